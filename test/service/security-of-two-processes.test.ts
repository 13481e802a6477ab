import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunningService } from '../../src/start-service.js';
import { sendCose } from '../api/send-cose.js';
import { sendRequest } from '../api/send-request.js';
import { type Answer, type Client, clientOf, clientWith, type TestService, until } from '../api/test-service.js';
import { sampleIssuer, sampleStatement } from '../scitt/sample-statement.js';
import { serverUrl } from '../support/prerequisites.js';
import { startTwoProcesses } from './two-processes.js';

const APPLICATIONS = '/archivist/iam/v1/applications';
/** Each clock counts as right while it differs from the database's by less than five seconds. */
const APART_MS = 9_000;

describe.skipIf(!serverUrl)('two processes of one deployment', () => {
  let both: Awaited<ReturnType<typeof startTwoProcesses>>;
  let first: TestService;
  let second: RunningService;
  beforeAll(async () => {
    both = await startTwoProcesses(APART_MS);
    ({ first, second } = both);
  });
  afterAll(() => both?.close());

  const throughSecond = ({ token }: Client) => clientWith(second.url, token);

  it('accept what the other one has just issued, although their clocks differ', async () => {
    expect((await clientWith(second.url, '').get('/readyz')).status).toBe(200);
    const client = await first.client({});
    expect((await throughSecond(client).get('/archivist/v2/assets')).status).toBe(200);
    const answer = await first.owner.post(APPLICATIONS, { display_name: 'New' });
    const { client_id, credentials } = answer.json as { client_id: string; credentials: [{ secret: string }] };
    const there = await clientOf(second.url, client_id, credentials[0].secret);
    expect((await there.get('/archivist/v2/assets')).status).toBe(200);
  });

  it('know at once of a token that the other one revoked', async () => {
    const client = await first.client({});
    expect((await throughSecond(client).get('/archivist/v2/assets')).status).toBe(200);
    expect((await first.owner.post(`${APPLICATIONS}/${client.clientId}:revoke-tokens`, '')).status).toBe(200);
    expect((await throughSecond(client).get('/archivist/v2/assets')).status).toBe(401);
  });

  it('know within a second that the other one trusts an issuer no longer', async () => {
    const signer = sampleIssuer();
    const issuer = 'https://two.example';
    const client = await first.client({});
    const register = (url: string, subject: string): Promise<Answer> =>
      sendCose(url, client, '/entries', sampleStatement(signer, { issuer, subject, confirmation: false }));
    expect((await register(second.url, 'vcon://before')).status).toBe(400);
    const key = { ...signer.publicKey.export({ format: 'jwk' }), kid: 'testkey' };
    const { json } = await first.owner.post('/archivist/v1/scitt/trust_anchors', { issuer, public_key: key });
    const trusted = await until(
      () => register(second.url, 'vcon://trusted'),
      ({ status }) => status === 201,
      30_000,
    );
    expect(trusted.status).toBe(201);
    await sendRequest(first.url, first.owner, 'DELETE', `/archivist/v1/scitt/${json['identity']}`);
    const removedAt = performance.now();
    expect((await register(first.url, 'vcon://there')).status).toBe(400);
    let lastTaken = removedAt;
    let asked = 0;
    await until(
      async () => {
        const begun = performance.now();
        asked += 1;
        const answer = await register(second.url, `vcon://after-${asked}`);
        if (answer.status !== 400) lastTaken = begun;
        return answer;
      },
      ({ status }) => status === 400,
      30_000,
    );
    expect(lastTaken - removedAt).toBeLessThan(1_000);
  });

  it('know at once of a role that the other one took away', async () => {
    const client = await first.client({ roles: ['OWNER'] });
    expect((await throughSecond(client).get(APPLICATIONS)).status).toBe(200);
    await sendRequest(first.url, first.owner, 'PATCH', `${APPLICATIONS}/${client.clientId}`, { roles: [] });
    expect((await throughSecond(client).get(APPLICATIONS)).status).toBe(403);
  });
});
