import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { softhsm } from '../support/prerequisites.js';
import { breakSessions, makeSofthsmTokens, type SofthsmTokens } from '../support/softhsm-tokens.js';
import { requestToken, startTestService, type TestService, template, until } from './test-service.js';

const SUBJECT = 'vcon://0190a8c0-0000-7000-8000-0000000000ac';
const WITHIN_MS = 60_000;
const FAILED_ROUND = /^archivist_ledger_round_seconds_count\{outcome="failed"\} [1-9]/m;

describe.skipIf(!softhsm)('while the module with the keys lets nobody in', () => {
  let running: TestService;
  let tokens: SofthsmTokens;
  beforeAll(async () => {
    tokens = await makeSofthsmTokens(['archive']);
    Object.assign(process.env, tokens.environment);
    running = await startTestService({ KEY_PROVIDER: tokens.uri('archive') });
  });
  afterAll(async () => {
    await running?.close();
    await tokens?.remove();
  });

  const askForToken = () =>
    requestToken(running.url, {
      grant_type: 'client_credentials',
      client_id: running.owner.clientId,
      client_secret: running.ownerSecret,
    });
  const statement = (path: string) => running.owner.get(`/archivist/v2/${path}/transparent-statement`);

  it('events are accepted, tokens are put off, and all is signed once it is back', async () => {
    const { pinFile } = tokens.token('archive');
    await writeFile(pinFile, 'pin-of-nobody');
    breakSessions('C_CloseAllSessions');

    const refused = await askForToken();
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '2']);
    expect(JSON.stringify(refused.json)).not.toMatch(/KEY_PROVIDER|pin|CKR/i);
    const asset = await running.owner.post('/archivist/v2/assets', { attributes: {} });
    const event = { operation: 'Record', behaviour: 'RecordEvidence', event_attributes: template(SUBJECT) };
    const accepted = await running.owner.post(`/archivist/v2/${asset.json['identity']}/events`, event);
    expect(accepted.status).toBe(200);
    const path = String(accepted.json['identity']);
    await until(
      () => running.anonymous.get('/metrics'),
      ({ bytes }) => FAILED_ROUND.test(new TextDecoder().decode(bytes)),
      WITHIN_MS,
    );
    expect((await statement(path)).status).toBe(404);

    await writeFile(pinFile, tokens.pin);
    expect((await askForToken()).status).toBe(200);
    expect(
      (
        await until(
          () => statement(path),
          ({ status }) => status === 200,
          WITHIN_MS,
        )
      ).status,
    ).toBe(200);
  });
});
