import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunningService } from '../../src/start-service.js';
import { sendRequest } from '../api/send-request.js';
import { type Answer, type Client, clientWith, requestToken, type TestService } from '../api/test-service.js';
import { sampleIssuer } from '../scitt/sample-statement.js';
import { holdLock } from '../support/hold-lock.js';
import { serverUrl } from '../support/prerequisites.js';
import { startTwoProcesses } from './two-processes.js';

const APPLICATIONS = '/archivist/iam/v1/applications';
const WEBHOOKS = '/archivist/iam/v1/webhooks';
const REPORTS = '/archivist/v1/capture_reports';
const ANCHORS = '/archivist/v1/scitt/trust_anchors';
const SELF = '/archivist/v1/tenancies/self';
const TENANCIES = '/archivist/operator/v1/tenancies';
const OWNERS = '/archivist/v1/tenancies/root_principals';
const PATIENCE = { timeout: 30_000, interval: 20 };

/** The turns of a tenancy's acts are a process's own: between processes only the database orders them. */
describe.skipIf(!serverUrl)('at the same time in two processes of one deployment', () => {
  let both: Awaited<ReturnType<typeof startTwoProcesses>>;
  let first: TestService;
  let second: RunningService;
  let owners: readonly [Client, Client];
  beforeAll(async () => {
    both = await startTwoProcesses();
    ({ first, second } = both);
    owners = [first.owner, clientWith(second.url, first.owner.token)];
  });
  afterAll(() => both?.close());

  /** Lets each request come as far as it does while this is locked; all go on when all wait. */
  async function together(locked: string, values: readonly unknown[], requests: (() => Promise<Answer>)[]) {
    const lock = await holdLock(first.environment['DATABASE_URL']!, `SELECT ${locked} FOR UPDATE`, values);
    const answers: Promise<Answer>[] = [];
    try {
      for (const request of requests) {
        answers.push(request());
        await expect.poll(() => lock.waiting(), PATIENCE).toBe(answers.length);
      }
    } finally {
      await lock.release();
    }
    return Promise.all(answers);
  }

  const secretOf = 'FROM archivist.application_credential WHERE application_id = $1';
  const itself = 'FROM archivist.application WHERE application_id = $1';
  const itsTenancy = 'FROM archivist.tenancy';
  const statusesOf = (answers: Answer[]) => answers.map(({ status }) => status).sort();
  const remove = (path: string) => sendRequest(first.url, first.owner, 'DELETE', path);

  it('two new secrets of an application leave one that is valid', async () => {
    const { clientId } = await first.client({});
    const regenerate = owners.map((owner) => () => owner.post(`${APPLICATIONS}/${clientId}:regenerate-secret`, ''));
    const answers = await together(secretOf, [clientId], regenerate);
    const tokens = await Promise.all(
      answers.map(({ json }) => {
        const [{ secret }] = json['credentials'] as [{ secret: string }];
        const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: secret };
        return requestToken(first.url, form);
      }),
    );
    expect(statusesOf(tokens)).toEqual([200, 401]);
  });

  it.each([
    ['a new secret', 404, (id: string) => owners[1].post(`${APPLICATIONS}/${id}:regenerate-secret`, '')],
    ['a webhook', 400, (id: string) => owners[1].post(WEBHOOKS, webhookOf(id))],
  ])('%s of an application that is deleted is refused', async (_, status, request) => {
    const { clientId } = await first.client({});
    const deletion = () => remove(`${APPLICATIONS}/${clientId}`);
    const [deleted, refused] = await together(secretOf, [clientId], [deletion, () => request(clientId)]);
    expect([deleted!.status, refused!.status]).toEqual([200, status]);
  });

  it('a report of an application that is deleted is refused', async () => {
    const client = await first.client({});
    const there = clientWith(second.url, client.token);
    const deletion = () => remove(`${APPLICATIONS}/${client.clientId}`);
    const report = () => there.post(REPORTS, reportOf(randomUUID()));
    const [deleted, refused] = await together(secretOf, [client.clientId], [deletion, report]);
    expect([deleted!.status, refused!.status]).toEqual([200, 403]);
  });

  it('the last webhook is created once', async () => {
    const { clientId } = await first.client({});
    await first.owner.post(WEBHOOKS, webhookOf(clientId));
    await first.asOwner(
      `INSERT INTO archivist.webhook
       SELECT (jsonb_populate_record(w, jsonb_build_object('webhook_id', gen_random_uuid()))).*
         FROM archivist.webhook w, generate_series(2, 99)`,
    );
    const create = owners.map((owner) => () => owner.post(WEBHOOKS, webhookOf(clientId)));
    expect(statusesOf(await together(itself, [clientId], create))).toEqual([200, 402]);
  });

  it('the last queue of an application is reported once', async () => {
    const client = await first.client({});
    const there = clientWith(second.url, client.token);
    for (let made = 0; made < 15; made += 1) await client.post(REPORTS, reportOf(randomUUID()));
    const report = [client, there].map((each) => () => each.post(REPORTS, reportOf(randomUUID())));
    expect(statusesOf(await together(itself, [client.clientId], report))).toEqual([200, 402]);
  });

  it('an Owner whom another one removes leaves no Owner behind', async () => {
    const removed = await first.client({ roles: ['OWNER'] });
    const { clientId } = await first.client({});
    const { iss: issuer } = decodeJwt(removed.token);
    const left = { issuer, subject: first.owner.clientId };
    await together(
      itsTenancy,
      [],
      [
        () => sendRequest(first.url, first.owner, 'PATCH', OWNERS, { root_principals: [left] }),
        () => sendRequest(second.url, removed, 'PATCH', `${APPLICATIONS}/${clientId}`, { roles: ['OWNER'] }),
      ],
    );
    const { json } = await first.owner.get(OWNERS);
    expect(json['root_principals']).toEqual([expect.objectContaining(left)]);
  });

  it('two changes of the identity provider keep what the other one sets', async () => {
    const set = (url: string, config: object) =>
      sendRequest(url, first.owner, 'PATCH', SELF, { enterprise_sso_config: config });
    await set(first.url, { issuer: 'https://idp.example', client_id: 'console' });
    const answers = await together(
      itsTenancy,
      [],
      [
        () => set(first.url, { issuer: 'https://another.example', client_id: 'another' }),
        () => set(second.url, { audience: 'archivist' }),
      ],
    );
    expect(statusesOf(answers)).toEqual([200, 200]);
    const { json } = await first.owner.get(SELF);
    expect(json['enterprise_sso_config']).toMatchObject({
      issuer: 'https://another.example',
      client_id: 'another',
      audience: 'archivist',
    });
  });

  it('a tenancy that the operator disables twice is disabled once', async () => {
    const token = (await readFile(join(first.environment['KEYS_DIR']!, 'operator-token'), 'utf8')).trim();
    const operators = [first.url, second.url].map((url) => clientWith(url, token));
    const { json } = await operators[0]!.post(TENANCIES, { display_name: 'Another' });
    const tenantId = String(json['identity']).slice('tenancies/'.length);
    const disable = operators.map((operator) => () => operator.post(`${TENANCIES}/${tenantId}:disable`, ''));
    const answers = await together('FROM archivist.tenancy WHERE tenant_id = $1', [tenantId], disable);
    const [{ json: one }, { json: two }] = answers as [Answer, Answer];
    expect(one).toEqual(two);
  });

  it('the last trust anchor is created once', async () => {
    await first.asOwner(
      `INSERT INTO archivist.trust_anchor (tenant_id, anchor_id, kind, display_name, issuer, kid, thumbprint, material, created_at)
       SELECT a.tenant_id, gen_random_uuid(), 'issuer_key', '', 'https://' || n, '', '', '{}', now()
         FROM archivist.application a, generate_series(1, 999) n WHERE a.application_id = '${first.owner.clientId}'`,
    );
    const create = owners.map((owner) => () => owner.post(ANCHORS, anchorOf()));
    expect(statusesOf(await together(itsTenancy, [], create))).toEqual([200, 402]);
  });
});

const webhookOf = (clientId: string) => ({
  display_name: 'A receiver',
  application: `applications/${clientId}`,
  url: 'https://receiver.example/',
  event_types: ['event.confirmed'],
});

const reportOf = (source: string) => ({
  ...{ source, observed_at: '2026-11-22T10:00:00Z', depth: 0, oldest_seconds: 0 },
  ...{ dead_letters: 0, exact: true, letters: [], gaps: [] },
});

const anchorOf = () => ({
  issuer: 'https://issuer.example',
  public_key: sampleIssuer().publicKey.export({ format: 'jwk' }),
});
