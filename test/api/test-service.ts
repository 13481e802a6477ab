import { createTenancy } from '../../src/archivist/bootstrap-deployment.js';
import { createApplication } from '../../src/iam/applications/create-application.js';
import { type Clock, systemClock } from '../../src/platform/clock.js';
import { parseConfig } from '../../src/service/config/config.js';
import { readCredentials } from '../../src/service/first-credentials.js';
import { type RunningService, startService } from '../../src/start-service.js';
import { type Engine, engines, onServer } from '../support/engines.js';
import { freePort } from '../support/free-port.js';
import { lendKeyPairs } from '../support/lent-key-pairs.js';
import { serviceRedisUrl } from '../support/own-redis.js';
import { redisUrl } from '../support/prerequisites.js';

/** A caller with a token; paths are relative to the service. */
export interface Client {
  readonly token: string;
  readonly clientId: string;
  readonly clientSecret: string;
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
  /** The parsed body if it is JSON, otherwise empty; tests look into it freely. */
  readonly json: Record<string, unknown>;
}

export interface TestService {
  readonly service: RunningService;
  readonly url: string;
  /** All that it was started with. */
  readonly environment: Readonly<Record<string, string>> & { readonly DATA_DIR: string };
  readonly owner: Client;
  /** Of the owner's application. */
  readonly ownerSecret: string;
  readonly anonymous: Client;
  /** Another application of the first tenancy, or of a new tenancy, whose log has massifs of height 14 unless told. */
  client(options: { roles?: string[]; otherTenancy?: boolean; massifHeight?: number }): Promise<Client>;
  /** Runs SQL as the role that owns the tables: a fault, or a look behind row-level security. */
  asOwner(...statements: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

/** The whole service in a folder of its own, on a server where the environment of the tests names one. */
export async function startTestService(
  environment: Record<string, string> = {},
  engine: Engine = engines().at(-1)!,
  clock: Clock = systemClock,
): Promise<TestService> {
  const place = await engine.place();
  const started = {
    PORT: String(await freePort()),
    PLUGIN_PORT: String(await freePort()),
    // A report a minute would count among the requests of a test.
    PLUGIN_REPORTS: 'off',
    // Its entries would be in the logs of a test.
    AUDIT_SCHEDULE: 'off',
    LOG_LEVEL: process.env['TEST_LOG_LEVEL'] ?? 'silent',
    REDIS_URL: redisUrl ? await serviceRedisUrl() : '',
    ...place.environment,
    ...environment,
  };
  const keyPairs = lendKeyPairs();
  const service = await startService(parseConfig(started), { ...keyPairs, clock });
  const first = (await readCredentials(started.DATA_DIR))!;
  const { url } = service;
  return {
    service,
    url,
    environment: started,
    owner: await clientOf(url, first.client_id, first.client_secret),
    ownerSecret: first.client_secret,
    anonymous: clientWith(url, '', ''),
    async client({ roles = [], otherTenancy = false, massifHeight = 14 }) {
      const height = otherTenancy ? massifHeight : undefined;
      const { clientId, clientSecret } = await newApplication(service, first.tenant_identity, roles, height);
      return clientOf(url, clientId, clientSecret);
    },
    async asOwner(...statements) {
      for (const sql of statements)
        await (started.DATABASE_URL ? onServer(started.DATABASE_URL, sql) : onEmbedded(service, sql));
    },
    async close() {
      await service.close();
      await place.remove();
      keyPairs.giveBack();
    },
  };
}

function onEmbedded(service: RunningService, sql: string): Promise<void> {
  return service.parts.database.inTransaction('system', async (tx) => {
    await tx.execute('RESET ROLE');
    await tx.execute(sql);
    await tx.execute('SET ROLE vcon_archivist_service');
  });
}

/** In the first tenancy, or with a massif height in a new one. */
async function newApplication(service: RunningService, firstTenant: string, roles: string[], massifHeight?: number) {
  const { database, keyring, clock, ids, createTenancyKeys } = service.parts;
  return database.inTransaction('system', async (tx) => {
    const tenantId = massifHeight === undefined ? firstTenant.slice('tenant/'.length) : ids.uuid();
    if (massifHeight !== undefined) {
      const deps = { clock, massifHeight, createTenancyKeys };
      await createTenancy(tx, deps, { tenantId, kind: 'organisation', displayName: 'Another tenancy' });
    }
    const made = await createApplication(
      tx,
      { clock, ids, pepper: keyring.pepper },
      { tenantId, displayName: 'Test client', roles },
    );
    return { clientId: made.application.applicationId, clientSecret: made.clientSecret };
  });
}

export async function requestToken(
  url: string,
  form: Record<string, string> | [string, string][],
  headers: Record<string, string> = {},
) {
  const response = await fetch(`${url}/archivist/iam/v1/appidp/token`, {
    method: 'POST',
    body: new URLSearchParams(form),
    headers,
  });
  return answerOf(response);
}

export async function clientOf(url: string, clientId: string, clientSecret: string): Promise<Client> {
  const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
  const { json } = await requestToken(url, form);
  return clientWith(url, String(json['access_token']), clientId, clientSecret);
}

/** A client with any token text. */
export function clientWith(url: string, token: string, clientId = '', clientSecret = ''): Client {
  const authorization: Record<string, string> = token === '' ? {} : { authorization: `Bearer ${token}` };
  return {
    token,
    clientId,
    clientSecret,
    get: async (path, headers = {}) =>
      answerOf(await fetch(`${url}${path}`, { headers: { ...authorization, ...headers } })),
    post: async (path, body, headers = {}) =>
      answerOf(
        await fetch(`${url}${path}`, {
          method: 'POST',
          headers: { ...authorization, 'content-type': 'application/json', ...headers },
          body: typeof body === 'string' ? body : JSON.stringify(body),
        }),
      ),
  };
}

async function answerOf(response: Response): Promise<Answer> {
  const bytes = new Uint8Array(await response.arrayBuffer());
  const isJson = /[/+]json(;|$)/.test(response.headers.get('content-type') ?? '') && bytes.length > 0;
  const json: Answer['json'] = isJson ? JSON.parse(new TextDecoder().decode(bytes)) : {};
  return { status: response.status, headers: response.headers, bytes, json };
}

/** Asks again until the answer suits, for at most so long. */
export async function until(ask: () => Promise<Answer>, suits: (answer: Answer) => boolean, withinMs: number) {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const answer = await ask();
    if (suits(answer) || Date.now() > deadline) return answer;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Attributes as the vCon template has them. */
export function template(subject: string, extra: Record<string, unknown> = {}) {
  return {
    arc_display_type: 'vcon_created',
    conserver_link: 'archivist',
    conserver_link_name: 'archivist_created',
    conserver_link_version: '0.3.0',
    payload: 'a3f5'.repeat(16),
    payload_hash_alg: 'SHA-256',
    payload_preimage_content_type: 'application/vcon+json',
    subject,
    timestamp_declared: '2026-11-20T10:00:00Z',
    vcon_operation: 'vcon_created',
    vcon_draft_version: '01',
    scitt_draft_version: '10',
    ...extra,
  };
}
