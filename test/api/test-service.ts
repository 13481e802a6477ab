import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { createTenancy } from '../../src/archivist/bootstrap-deployment.js';
import { createApplication } from '../../src/iam/applications/create-application.js';
import { parseConfig } from '../../src/platform/config.js';
import { readCredentials } from '../../src/service/first-credentials.js';
import { type RunningService, startService } from '../../src/start-service.js';

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
  /** The parsed body; tests look into it freely. */
  readonly json: Record<string, unknown>;
}

export interface TestService {
  readonly service: RunningService;
  readonly url: string;
  readonly owner: Client;
  /** Of the owner's application. */
  readonly ownerSecret: string;
  readonly anonymous: Client;
  /** Another application of the first tenancy, or of a new tenancy. */
  client(options: { roles?: string[]; otherTenancy?: boolean }): Promise<Client>;
  /** Runs SQL as the role that owns the tables: a fault, or a look behind row-level security. */
  asOwner(sql: string): Promise<void>;
  close(): Promise<void>;
}

/** A database of its own on the server that TEST_DATABASE_URL names; the embedded one when it names none. */
async function scratchDatabase(): Promise<{ url?: string; drop(): Promise<void> }> {
  const server = process.env['TEST_DATABASE_URL'];
  if (!server) return { drop: async () => undefined };
  const name = `api_${randomUUID().replaceAll('-', '')}`;
  await onServer(server, `CREATE DATABASE ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  const drop = () => onServer(server, `DROP DATABASE ${name} WITH (FORCE)`);
  return { url: url.href, drop };
}

/** The whole service in a folder of its own, on the engines that the environment of the tests names. */
export async function startTestService(
  environment: Record<string, string> = {},
  folder?: string,
): Promise<TestService> {
  const database = await scratchDatabase();
  const dataDir = folder ?? (await mkdtemp(join(tmpdir(), 'archivist-test-')));
  const config = parseConfig({
    DATA_DIR: dataDir,
    PORT: String(await freePort()),
    PLUGIN_PORT: String(await freePort()),
    LOG_LEVEL: process.env['TEST_LOG_LEVEL'] ?? 'silent',
    REDIS_URL: process.env['TEST_REDIS_URL'] ?? '',
    DATABASE_URL: database.url ?? '',
    ...environment,
  });
  const service = await startService(config);
  const first = (await readCredentials(dataDir))!;
  const { url } = service;
  return {
    service,
    url,
    owner: await clientOf(url, first.client_id, first.client_secret),
    ownerSecret: first.client_secret,
    anonymous: clientWith(url, '', ''),
    async client({ roles = [], otherTenancy = false }) {
      const { clientId, clientSecret } = await newApplication(service, first.tenant_identity, roles, otherTenancy);
      return clientOf(url, clientId, clientSecret);
    },
    asOwner: (sql) => (database.url ? onServer(database.url, sql) : onEmbedded(service, sql)),
    async close() {
      await service.close();
      await database.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function onServer(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(sql).finally(() => client.end());
}

function onEmbedded(service: RunningService, sql: string): Promise<void> {
  return service.parts.database.inTransaction('system', async (tx) => {
    await tx.execute('RESET ROLE');
    await tx.execute(sql);
    await tx.execute('SET ROLE vcon_archivist_service');
  });
}

async function newApplication(service: RunningService, firstTenant: string, roles: string[], otherTenancy: boolean) {
  const { database, keyring, clock, ids, createTenancyKeys } = service.parts;
  return database.inTransaction('system', async (tx) => {
    const tenantId = otherTenancy ? ids.uuid() : firstTenant.slice('tenant/'.length);
    if (otherTenancy) {
      const deps = { clock, massifHeight: 14, createTenancyKeys };
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

export async function requestToken(url: string, form: Record<string, string>, headers: Record<string, string> = {}) {
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
  let json: Answer['json'] = {};
  try {
    json = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    // Not every answer is JSON.
  }
  return { status: response.status, headers: response.headers, bytes, json };
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
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
