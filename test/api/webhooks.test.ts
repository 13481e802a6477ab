import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rotateDeploymentKey } from '../../src/archivist/operator/manage-keys.js';
import { createWebhook } from '../../src/archivist/webhooks/manage-webhooks.js';
import { sendDeliveries } from '../../src/archivist/webhooks/send-deliveries.js';
import { webhookSecrets } from '../../src/archivist/webhooks/webhook-secrets.js';
import { createOutboundFetch } from '../../src/platform/http/outbound-fetch.js';
import type { Principal } from '../../src/platform/http/principal.js';
import { createPageTokens } from '../../src/platform/postgres/page-token.js';
import { sendRequest } from './send-request.js';
import { type Client, startTestService, type TestService, template } from './test-service.js';

const WEBHOOKS = '/archivist/iam/v1/webhooks';
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

  it('are repeated under the same id after a failure, set aside after three days, and replayed', async () => {
    answers.set('/down', 503);
    const hook = await webhook('/down', owner, ['event.confirmed']);
    await record('vcon_created');
    await expect
      .poll(async () => (await deliveries(hook))[0]?.['last_error'], PATIENCE)
      .toBe('the receiver answered 503');
    const { database, deployment, keyring, ids } = running.service.parts;
    let days = 0;
    const later = {
      database,
      deployment,
      ids,
      publicUrl: running.url,
      logger: pino({ level: 'silent' }),
      clock: { now: () => Date.now() + days * DAY_MS },
      fetch: createOutboundFetch({ allowPrivate: true }),
      secrets: webhookSecrets({ keyring, ids }),
      setAside: () => undefined,
    };
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
