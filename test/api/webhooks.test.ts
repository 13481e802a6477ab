import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { watchCompliance } from '../../src/archivist/compliance/watch-compliance.js';
import { rotateDeploymentKey } from '../../src/archivist/operator/manage-keys.js';
import { createWebhook } from '../../src/archivist/webhooks/manage-webhooks.js';
import { sendDeliveries } from '../../src/archivist/webhooks/send-deliveries.js';
import { webhookSecrets } from '../../src/archivist/webhooks/webhook-secrets.js';
import { createActTurns } from '../../src/iam/security/act-turns.js';
import { openRefusedActs } from '../../src/iam/security/refused-acts.js';
import { createOutboundFetch } from '../../src/platform/http/outbound-fetch.js';
import type { Principal } from '../../src/platform/http/principal.js';
import { createPageTokens } from '../../src/platform/postgres/page-token.js';
import { freePort } from '../support/free-port.js';
import { sendRequest } from './send-request.js';
import { type Client, startTestService, type TestService, template } from './test-service.js';

const WEBHOOKS = '/archivist/iam/v1/webhooks';
const REPORTS = '/archivist/v1/capture_reports';
const PATIENCE = { timeout: 60_000, interval: 100 };
const PAYLOAD = 'ab12'.repeat(16);
const SUBJECT = 'vcon://0192e8f5-0000-7000-8000-00000000aa01';
const DAY_MS = 24 * 3600 * 1000;

interface Received {
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

let running: TestService;
let owner: Client;
let receiver: Server;
/** By path, so that each test has a receiver of its own. */
const received = new Map<string, Received[]>();
const answers = new Map<string, number>();

beforeAll(async () => {
  receiver = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const path = request.url!;
      const got = { headers: request.headers, body: Buffer.concat(chunks).toString() };
      received.set(path, [...(received.get(path) ?? []), got]);
      response.writeHead(answers.get(path) ?? 204).end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  running = await startTestService({ PRIVATE_IDENTITY_PROVIDERS: 'allow' });
  ({ owner } = running);
});
afterAll(async () => {
  await running?.close();
  receiver?.closeAllConnections();
  await new Promise((resolve) => receiver.close(resolve));
});

interface Made {
  readonly identity: string;
  readonly secret: string;
}

async function webhook(path: string, application: Client, event_types: string[]): Promise<Made> {
  const { port } = receiver.address() as AddressInfo;
  const answer = await owner.post(WEBHOOKS, {
    display_name: path,
    application: `applications/${application.clientId}`,
    url: `http://127.0.0.1:${port}${path}`,
    event_types,
  });
  expect(answer.status, String(answer.json['description'])).toBe(200);
  return answer.json as unknown as Made;
}

const messages = (path: string) =>
  (received.get(path) ?? []).map(({ body }) => JSON.parse(body) as { type: string; data: Record<string, unknown> });
const deliveries = async ({ identity }: Made, query = '') =>
  (await owner.get(`/archivist/iam/v1/${identity}/deliveries${query}`)).json['deliveries'] as Record<string, unknown>[];

/** Sends and evaluates at another time than the service itself. */
function senderAt(now: () => number) {
  const { database, deployment, keyring, ids } = running.service.parts;
  return {
    ...{ database, deployment, ids },
    publicUrl: running.url,
    logger: pino({ level: 'silent' }),
    clock: { now },
    fetch: createOutboundFetch({ allowPrivate: true }),
    secrets: webhookSecrets({ keyring, ids }),
    setAside: () => undefined,
  };
}

async function record(operation: string, by: Client = owner, extra: Record<string, unknown> = {}): Promise<string> {
  const attributes = template(SUBJECT, { vcon_operation: operation, payload: PAYLOAD, ...extra });
  const answer = await by.post('/archivist/v1/events', { event_type: 'vcon', attributes });
  return String(answer.json['identity']);
}

describe('webhooks', () => {
  it('tell what is confirmed and what consent became, signed as Standard Webhooks say, with identities and hashes only', async () => {
    const hook = await webhook('/told', owner, ['event.confirmed', 'consent.changed']);
    expect(hook.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const plain = await record('vcon_created', owner, { note: 'call +49 170 1234567' });
    const consent = await record('vcon_consent_revoked');
    await expect.poll(() => messages('/told').length, PATIENCE).toBe(3);
    const shown = messages('/told').map(({ type, data }) => [type, data['identity']]);
    expect(new Set(shown.map(String))).toEqual(
      new Set([`event.confirmed,${plain}`, `event.confirmed,${consent}`, `consent.changed,${consent}`]),
    );
    for (const { headers, body } of received.get('/told')!) {
      const key = Buffer.from(hook.secret.slice('whsec_'.length), 'base64');
      const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
      const signature = createHmac('sha256', key).update(signed).digest('base64');
      expect(headers['webhook-signature']).toBe(`v1,${signature}`);
      expect(body).not.toContain('1234567');
      const { data } = JSON.parse(body) as { data: Record<string, unknown> };
      expect(data).toMatchObject({ subject: SUBJECT, payload: PAYLOAD });
      expect(data['confirmation_status']).toMatch(/^(CONFIRMED|UNEQUIVOCAL)$/);
    }
    await expect.poll(async () => (await deliveries(hook, '?status=DELIVERED')).length, PATIENCE).toBe(3);
    const read = await owner.get(`/archivist/iam/v1/${hook.identity}`);
    expect(read.json['secret']).toBeUndefined();
  });

  it('carry only what the application may read, and nothing of another tenancy', async () => {
    const one = await running.client({});
    const other = await running.client({});
    await webhook('/own', one, ['event.confirmed', 'key.changed']);
    await record('vcon_created', other);
    const own = await record('vcon_created', one);
    await expect.poll(() => messages('/own').length, PATIENCE).toBe(1);
    expect(messages('/own')[0]!.data['identity']).toBe(own);
    const stranger = await running.client({ otherTenancy: true, roles: ['OWNER'] });
    expect((await stranger.get(WEBHOOKS)).json['webhooks']).toEqual([]);
    expect((await one.get(WEBHOOKS)).status).toBe(403);
  });

  it('tell an Owner’s application that a key was rotated', async () => {
    await webhook('/keys', owner, ['key.changed']);
    await rotateDeploymentKey(running.service.parts.keys, 'token');
    await expect.poll(() => messages('/keys').length, PATIENCE).toBe(1);
    expect(messages('/keys')[0]).toMatchObject({
      type: 'key.changed',
      data: { action: 'keys.rotate', resource: 'keys/token' },
    });
  });

  it('arrive within seconds while the receiver of another tenancy takes hundreds of requests and answers none', async () => {
    let asked = 0;
    const hole = createServer(() => {
      asked += 1;
    });
    await new Promise<void>((resolve) => hole.listen(0, '127.0.0.1', resolve));
    const stranger = await running.client({ otherTenancy: true, roles: ['OWNER'] });
    const { port } = hole.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/`;
    const made = await stranger.post(WEBHOOKS, { display_name: 'Hole', url, event_types: ['event.confirmed'] });
    expect(made.status).toBe(200);
    const about = { readers: { applicationId: stranger.clientId }, data: {} };
    await running.asOwner(
      `INSERT INTO archivist.webhook_delivery (tenant_id, delivery_id, webhook_id, about, event_type, status,
           next_attempt_at, created_at)
         SELECT tenant_id, gen_random_uuid(), webhook_id, '${JSON.stringify(about)}', 'event.confirmed', 'PENDING', now(), now()
           FROM archivist.webhook, generate_series(1, 400) WHERE webhook_id = '${String(made.json['identity']).slice('webhooks/'.length)}'`,
    );
    await expect.poll(() => asked, PATIENCE).toBeGreaterThan(0);
    await webhook('/healthy', owner, ['event.confirmed']);
    for (let count = 1; count <= 3; count += 1) {
      const began = Date.now();
      await record('vcon_created');
      await expect.poll(() => messages('/healthy').length, PATIENCE).toBe(count);
      expect(Date.now() - began).toBeLessThan(20_000);
    }
    await sendRequest(running.url, stranger, 'DELETE', `/archivist/iam/v1/${made.json['identity']}`, undefined);
    hole.closeAllConnections();
    await new Promise((resolve) => hole.close(resolve));
  }, 120_000);

  it('are repeated under the same id after a failure, set aside after three days, and replayed', async () => {
    answers.set('/down', 503);
    const hook = await webhook('/down', owner, ['event.confirmed']);
    await record('vcon_created');
    await expect
      .poll(async () => (await deliveries(hook))[0]?.['last_error'], PATIENCE)
      .toBe('the receiver answered 503');
    let days = 0;
    const later = senderAt(() => Date.now() + days * DAY_MS);
    for (days = 1; days < 30 && (await deliveries(hook))[0]!['status'] === 'PENDING'; days += 1)
      await sendDeliveries(later, () => false);
    const [given] = await deliveries(hook, '?status=SET_ASIDE');
    expect(given).toMatchObject({ attempts: 14, last_error: 'the receiver answered 503' });
    const sent = new Set(received.get('/down')!.map(({ headers }) => headers['webhook-id']));
    expect([...sent]).toEqual([given!['webhook_id']]);
    answers.set('/down', 200);
    const replayed = await owner.post(`/archivist/iam/v1/${given!['identity']}:replay`, {});
    expect(replayed.json).toMatchObject({ status: 'PENDING', attempts: 0 });
    await expect.poll(async () => (await deliveries(hook))[0]?.['status'], PATIENCE).toBe('DELIVERED');
    expect(received.get('/down')!.at(-1)!.headers['webhook-id']).toBe(given!['webhook_id']);
  }, 180_000);

  it('withhold what the application may not read any more, and end with their application', async () => {
    answers.set('/withheld', 500);
    const made = await owner.post('/archivist/iam/v1/applications', { display_name: 'Reader' });
    const application = String(made.json['identity']);
    await owner.post('/archivist/iam/v1/access_policies', {
      display_name: 'Reads hooked',
      filters: [{ or: ['attributes.arc_display_type=hooked'] }],
      access_permissions: [
        {
          user_attributes: [{ or: [`subject=${made.json['client_id']}`] }],
          behaviours: ['*'],
          asset_attributes_read: ['*'],
          event_arc_display_type_read: ['*'],
        },
      ],
    });
    const hook = await webhook('/withheld', { clientId: String(made.json['client_id']) } as Client, [
      'event.confirmed',
    ]);
    const asset = await owner.post('/archivist/v2/assets', { attributes: { arc_display_type: 'hooked' } });
    const failed = async () => (await deliveries(hook, '?status=PENDING'))[0]?.['last_error'];
    await expect.poll(failed, PATIENCE).toBe('the receiver answered 500');
    expect(asset.status).toBe(200);
    const policies = (await owner.get('/archivist/iam/v1/access_policies?display_name=Reads%20hooked')).json;
    const [policy] = policies['access_policies'] as { identity: string }[];
    await sendRequest(running.url, owner, 'DELETE', `/archivist/iam/v1/${policy!.identity}`, undefined);
    await expect.poll(async () => (await deliveries(hook, '?status=WITHHELD')).length, PATIENCE).toBeGreaterThan(0);
    await sendRequest(running.url, owner, 'DELETE', `/archivist/iam/v1/${application}`, undefined);
    expect((await owner.get(`/archivist/iam/v1/${hook.identity}`)).status).toBe(404);
  }, 180_000);

  it('tell new dead letters once, to Owners and to the application that reported them', async () => {
    const plugin = await running.client({});
    const other = await running.client({});
    await webhook('/letters', owner, ['capture.dead_letters']);
    await webhook('/own-letters', plugin, ['capture.dead_letters']);
    const foreign = await webhook('/foreign-letters', other, ['capture.dead_letters']);
    const letter = (digit: string, failed_at: string) => ({
      ...{ job: digit.repeat(64), operation: 'vcon_created', subject: SUBJECT, payload: PAYLOAD, failed_at },
    });
    const first = letter('a', '2026-11-22T09:00:00.000Z');
    const second = letter('b', '2026-11-22T09:05:00.000Z');
    const older = letter('c', '2026-11-22T08:00:00.000Z');
    const again = letter('a', '2026-11-22T09:30:00.000Z');
    const source = running.service.parts.ids.uuid();
    const report = async (observed_at: string, letters: object[], by: Client = plugin) => {
      const state = { depth: 7, oldest_seconds: 1.5, dead_letters: letters.length, exact: true, letters, gaps: [] };
      return by.post(REPORTS, { source, observed_at, ...state });
    };
    expect((await report('2026-11-22T10:00:00Z', [first])).json).toMatchObject({ source, depth: 7, dead_letters: 1 });
    // Repeated by two at once, then one more, an earlier report that comes late, and one that only came into view.
    await Promise.all([report('2026-11-22T10:00:00Z', [first]), report('2026-11-22T10:00:00Z', [first])]);
    await report('2026-11-22T10:01:00Z', [second, first]);
    expect((await report('2026-11-22T09:59:00Z', [])).json['dead_letters']).toBe(2);
    await report('2026-11-22T10:02:00Z', [second, first, older]);
    await report('2026-11-22T10:03:00Z', [again, second]);
    const told = [[first], [second], [again]];
    for (const path of ['/letters', '/own-letters']) {
      await expect.poll(() => messages(path).length, PATIENCE).toBe(told.length);
      const named = (letters: unknown) =>
        (letters as { job: string; failed_at: string }[]).map(({ job, failed_at }) => `${job} ${failed_at}`).join();
      expect(
        messages(path)
          .map(({ data }) => named(data['letters']))
          .sort(),
      ).toEqual(told.map(named).sort());
      expect(messages(path)[0]).toMatchObject({
        type: 'capture.dead_letters',
        data: { application: `applications/${plugin.clientId}`, source },
      });
    }
    await expect.poll(async () => (await deliveries(foreign, '?status=WITHHELD')).length, PATIENCE).toBe(told.length);
    expect(received.get('/foreign-letters')).toBeUndefined();
    const seenBy = async (by: Client) =>
      ((await by.get(REPORTS)).json['capture_reports'] as Record<string, unknown>[]).map((each) => each['source']);
    expect(await seenBy(owner)).toEqual([source]);
    expect(await seenBy(plugin)).toEqual([source]);
    expect(await seenBy(other)).toEqual([]);
  }, 180_000);

  it('take reports of a bounded number of queues, with identities and hashes only', async () => {
    const plugin = await running.client({});
    const { ids } = running.service.parts;
    const state = { depth: 0, oldest_seconds: 0, dead_letters: 0, exact: true, letters: [], gaps: [] };
    const report = (changed: object) =>
      plugin.post(REPORTS, { source: ids.uuid(), observed_at: '2026-11-22T10:00:00Z', ...state, ...changed });
    const letter = { job: 'a'.repeat(64), operation: 'vcon_created', failed_at: '2026-11-22T09:00:00Z' };
    for (const wrong of [
      { depth: -1 },
      { observed_at: 'today' },
      { letters: [{ ...letter, reason: 'a text' }] },
      { letters: [{ ...letter, subject: 'tel:+491701234567' }] },
      { letters: [{ ...letter, operation: 'call of +49 170' }] },
      { gaps: [{ day: '2026-11-22', vcons: 1, payloads: ['x'] }] },
    ])
      expect([wrong, (await report(wrong)).status]).toEqual([wrong, 400]);
    const statuses = [];
    for (let each = 0; each < 17; each += 1) statuses.push((await report({})).status);
    expect(statuses).toEqual([...Array(16).fill(200), 402]);
  });

  it('tell a gap in capture when its record is in the log', async () => {
    await webhook('/gaps', owner, ['capture.gap']);
    await record('vcon_created');
    const gap = await record('vcon_capture_gap', owner, { gap_document: '{"left_without_event":["a text"]}' });
    await expect.poll(() => messages('/gaps').length, PATIENCE).toBe(1);
    expect(messages('/gaps')[0]).toMatchObject({
      type: 'capture.gap',
      data: { identity: gap, payload: PAYLOAD, vcon_operation: 'vcon_capture_gap' },
    });
    expect(received.get('/gaps')![0]!.body).not.toContain('a text');
  });

  it('tell each change of compliance once, by an event or by time, to those who see the asset', async () => {
    const { parts } = running.service;
    const rows = async (table: string, where = 'true') =>
      (
        await parts.database.inTransaction('system', (tx) =>
          tx.query(`SELECT 1 FROM archivist.${table} WHERE ${where}`),
        )
      ).length;
    const asset = async () =>
      String(
        (await owner.post('/archivist/v2/assets', { attributes: { arc_display_type: 'watched' } })).json['identity'],
      );
    const review = (identity: string) =>
      owner.post(`/archivist/v2/${identity}/events`, {
        ...{ operation: 'Record', behaviour: 'RecordEvidence' },
        event_attributes: { arc_display_type: 'Reviewed' },
      });
    const early = await asset();
    const hook = await webhook('/compliance', owner, ['compliance.changed']);
    const hidden = await webhook('/hidden', await running.client({}), ['compliance.changed']);
    const reader = await running.client({});
    await owner.post('/archivist/iam/v1/access_policies', {
      display_name: 'Reads watched',
      filters: [{ or: ['attributes.arc_display_type=watched'] }],
      access_permissions: [{ user_attributes: [{ or: [`subject=${reader.clientId}`] }], asset_attributes_read: ['*'] }],
    });
    const seen = await webhook('/seen', reader, ['compliance.changed']);
    const policy = await owner.post('/archivist/v1/compliance_policies', {
      ...{ compliance_type: 'COMPLIANCE_SINCE', display_name: 'Reviewed', description: '' },
      ...{ event_display_type: 'Reviewed', time_period_seconds: '3600' },
      asset_filter: [{ or: ['attributes.arc_display_type=watched'] }],
    });
    const compliance_policy_identity = String(policy.json['identity']);
    await expect.poll(() => rows('compliance_scan', 'done'), PATIENCE).toBe(1);
    const told = async (...expected: (readonly [string, string, string])[]) => {
      await expect.poll(() => messages('/compliance').length, PATIENCE).toBe(expected.length);
      const shown = messages('/compliance').map(({ data }) => data);
      expect(shown.map((data) => [data['asset_identity'], data['previous_status'], data['compliance_status']])).toEqual(
        expected,
      );
      for (const data of shown) expect(data).toMatchObject({ compliance_policy_identity });
    };
    const late = await asset();
    const first = [late, 'NOT_APPLICABLE', 'NOT_COMPLIANT'] as const;
    await told(first);
    const dataAt = (path: string) => messages(path).map(({ data }) => data);
    await expect.poll(() => dataAt('/seen'), PATIENCE).toEqual(dataAt('/compliance'));
    await sendRequest(running.url, owner, 'DELETE', `/archivist/iam/v1/${seen.identity}`, undefined);
    await review(late);
    const second = [late, 'NOT_COMPLIANT', 'COMPLIANT'] as const;
    await told(first, second);
    const inTwoHours = senderAt(() => Date.now() + DAY_MS / 12);
    // Four at once, beside the service's own, which may be at work just now.
    const evaluated = async () => {
      await Promise.all(Array.from({ length: 4 }, () => watchCompliance(inTwoHours, () => false)));
      return (await deliveries(hook)).length;
    };
    await expect.poll(evaluated, PATIENCE).toBe(3);
    expect(await evaluated()).toBe(3);
    await sendDeliveries(inTwoHours, () => false);
    const third = [late, 'COMPLIANT', 'NOT_COMPLIANT'] as const;
    await told(first, second, third);
    await review(early);
    const fourth = [early, 'NOT_COMPLIANT', 'COMPLIANT'] as const;
    await told(first, second, third, fourth);
    await review(early);
    await expect.poll(async () => (await deliveries(hidden, '?status=WITHHELD')).length, PATIENCE).toBe(4);
    expect(received.get('/hidden')).toBeUndefined();
    expect((await deliveries(hook)).every((each) => each['position'] === undefined)).toBe(true);
    expect(await rows('compliance_verdict')).toBe(2);
    await sendRequest(running.url, owner, 'DELETE', `/archivist/v1/${compliance_policy_identity}`, undefined);
    for (const table of ['compliance_verdict', 'compliance_scan', 'compliance_watch'])
      await expect.poll(() => rows(table), PATIENCE).toBe(0);
    await told(first, second, third, fourth);
  }, 240_000);

  it('are received and followed by the programs in examples/', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'webhook-examples-'));
    const port = await freePort();
    const url = `http://127.0.0.1:${port}/`;
    const made = await owner.post(WEBHOOKS, { display_name: 'Example', url, event_types: ['event.confirmed'] });
    const run = (name: string, environment: Record<string, string>, ...args: string[]) => {
      const child = spawn(process.execPath, [join('examples/webhooks', name), ...args], {
        env: { ...process.env, ...environment },
      });
      let said = '';
      for (const output of [child.stdout, child.stderr])
        output.on('data', (chunk: Buffer) => (said += chunk.toString()));
      return { said: () => said, ended: once(child, 'close'), stop: () => child.kill() };
    };
    const receiver = run('receive.mjs', { PORT: String(port), WEBHOOK_SECRET: String(made.json['secret']) });
    try {
      const forged = async () => (await fetch(url, { method: 'POST', body: '{}' }).catch(() => undefined))?.status;
      await expect.poll(forged, PATIENCE).toBe(401);
      // A request that breaks off within its body does not end the program.
      const cut = connect(port, '127.0.0.1');
      cut.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n{}');
      await wait(100);
      cut.resetAndDestroy();
      const identity = await record('vcon_created');
      await expect.poll(receiver.said, PATIENCE).toContain(identity);
      const position = join(folder, 'position');
      const follow = async () => {
        const environment = { ARCHIVIST_URL: running.url, ARCHIVIST_TOKEN: owner.token };
        const follower = run('follow.mjs', environment, position, '0');
        await follower.ended;
        return follower.said();
      };
      expect(await follow()).toContain(identity);
      const next = await record('vcon_created');
      await expect.poll(receiver.said, PATIENCE).toContain(next);
      const resumed = await follow();
      expect(resumed).toContain(next);
      expect(resumed).not.toContain(identity);
    } finally {
      receiver.stop();
      await receiver.ended;
      await rm(folder, { recursive: true, force: true });
    }
  }, 180_000);

  it('of which the secret cannot be read say so, and send nothing unsigned', async () => {
    const hook = await webhook('/unread', owner, ['event.confirmed']);
    await running.asOwner(
      `UPDATE archivist.webhook SET secret_sealed = 'none' WHERE webhook_id = '${hook.identity.split('/')[1]}'`,
    );
    await record('vcon_created');
    await expect
      .poll(async () => (await deliveries(hook))[0]?.['last_error'], PATIENCE)
      .toBe('the secret of the webhook cannot be read; delete the webhook and make a new one');
    expect(received.get('/unread')).toBeUndefined();
    await sendRequest(running.url, owner, 'DELETE', `/archivist/iam/v1/${hook.identity}`, undefined);
  });

  it('are at most a hundred of a tenancy', async () => {
    const client = await running.client({ otherTenancy: true, roles: ['OWNER'] });
    const body = {
      display_name: 'one of many',
      application: `applications/${client.clientId}`,
      url: 'https://hooks.example',
      event_types: ['key.changed'],
    };
    const first = await client.post(WEBHOOKS, body);
    await running.asOwner(
      `INSERT INTO archivist.webhook
       SELECT (jsonb_populate_record(w, jsonb_build_object('webhook_id', gen_random_uuid()))).*
         FROM archivist.webhook w, generate_series(2, 100)
        WHERE w.webhook_id = '${String(first.json['identity']).split('/')[1]}'`,
    );
    expect(await client.post(WEBHOOKS, body)).toMatchObject({
      status: 402,
      json: { error: 'quota_reached', description: 'A tenancy has at most 100 webhooks. Delete one.' },
    });
    await sendRequest(running.url, client, 'DELETE', `/archivist/iam/v1/${first.json['identity']}`, undefined);
    expect((await client.post(WEBHOOKS, body)).status).toBe(200);
    await running.asOwner(`DELETE FROM archivist.webhook WHERE display_name = 'one of many'`);
  });

  it('refuse addresses that are no public https address, and applications that do not exist', async () => {
    const strict = { display_name: 'x', application: `applications/${owner.clientId}`, event_types: ['key.changed'] };
    for (const url of ['nonsense', 'ftp://hooks.example', 'https://user:word@hooks.example'])
      expect([url, (await owner.post(WEBHOOKS, { ...strict, url })).status]).toEqual([url, 400]);
    const nobody = {
      ...strict,
      url: 'https://hooks.example',
      application: `applications/${running.service.parts.ids.uuid()}`,
    };
    expect((await owner.post(WEBHOOKS, nobody)).status).toBe(400);
    const { database, clock, ids, keyring } = running.service.parts;
    const logger = pino({ level: 'silent' });
    const claims = JSON.parse(Buffer.from(owner.token.split('.')[1]!, 'base64url').toString());
    const principal: Principal = {
      kind: 'application',
      tenantId: String(claims.jit_tenant_id).slice('tenant/'.length),
      issuer: claims.iss,
      subject: owner.clientId,
      displayName: '',
      email: '',
      roles: ['OWNER'],
      claims: {},
    };
    const deps = {
      ...{ database, clock, ids, logger, pageTokens: createPageTokens(keyring.pageTokenKey), allowPrivate: false },
      secrets: webhookSecrets({ keyring, ids }),
      refusedActs: openRefusedActs(logger),
      actTurns: createActTurns(),
    };
    for (const url of [
      'https://127.0.0.1/',
      'https://10.1.2.3/',
      'https://[::1]/',
      'https://localhost/',
      'http://example.org/',
    ])
      await expect(
        createWebhook(deps, principal, { ...strict, event_types: ['key.changed'], url }),
        url,
      ).rejects.toMatchObject({
        code: 'bad_request',
      });
  });
});
