import { setTimeout as wait } from 'node:timers/promises';
import { type PublicJwk, readKeyDocument } from '../../src/core/index.js';
import { readCredentials } from '../../src/service/first-credentials.js';
import { freePort } from '../support/free-port.js';
import { ASSETS, IN_FLIGHT, POLL_MS } from './bench-plan.js';
import { type ServerProcess, startProgram } from './child-process.js';
import type { Engine, EngineName } from './engines.js';
import { createHttpClient, type HttpClient } from './http-client.js';
import type { AcceptedPost, LoadTarget } from './load.js';
import { newSubject, templateEventBody } from './template-event.js';

const PROGRAM = new URL('../../src/main.js', import.meta.url);
const SETTLED_WITHIN_MS = 180_000;
/** So many of a load's newest posts must have their proofs before the load counts as worked off. */
const NEWEST = 8;

/** The whole service in a process of its own, and everything that its users know of it. */
export interface ServiceUnderTest {
  readonly engine: EngineName;
  readonly description: Engine['description'];
  readonly url: string;
  readonly pid: number;
  readonly dataDir: string;
  /** Posts events through connections that nothing else uses. */
  readonly target: LoadTarget;
  /** For everything else. */
  readonly reader: HttpClient;
  /** With a token. */
  readonly headers: Readonly<Record<string, string>>;
  readonly logKeys: readonly PublicJwk[];
  readonly issuerKeys: readonly PublicJwk[];
  stop(): Promise<void>;
}

/** What one process does: everything, or one part on a database server that a whole service has used. */
export type Role = 'all' | 'api' | 'ledger' | 'worker';

/** Starts the program in a role, on an engine of any age. */
export async function startRole(engine: Engine, role: Role): Promise<ServerProcess> {
  return startProgram(PROGRAM, { ...(await environmentOf(engine)), ROLE: role });
}

const environmentOf = async ({ environment }: Engine): Promise<Record<string, string>> => ({
  ...environment,
  PORT: String(await freePort()),
  PLUGIN_PORT: '0',
  LOG_LEVEL: 'error',
});

/** Starts the service on an engine, with an Owner's token and assets to post to. */
export async function startService(engine: Engine): Promise<ServiceUnderTest> {
  const server = await startProgram(PROGRAM, await environmentOf(engine));
  const reader = createHttpClient(server.url, IN_FLIGHT);
  const client = createHttpClient(server.url, IN_FLIGHT);
  const stop = async (): Promise<void> => {
    for (const each of [reader, client]) each.close();
    await server.stop();
  };
  const dataDir = engine.environment['DATA_DIR']!;
  try {
    const headers = { authorization: `Bearer ${await token(reader, dataDir)}` };
    const { name, description } = engine;
    const { url, pid } = server;
    const target = { client, headers, assets: await createAssets(reader, headers) };
    const keys = await publishedKeys(reader);
    return { engine: name, description, url, pid, dataDir, target, reader, headers, ...keys, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function token(client: HttpClient, dataDir: string): Promise<string> {
  const credentials = await readCredentials(dataDir);
  if (!credentials) throw new Error('the service left no credentials at its first start');
  const { client_id, client_secret } = credentials;
  const { status, bytes } = await client.send({
    method: 'POST',
    path: '/archivist/iam/v1/appidp/token',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret }).toString(),
  });
  if (status !== 200) throw new Error(`the token endpoint answered ${status}`);
  return JSON.parse(bytes.toString()).access_token;
}

function createAssets(client: HttpClient, headers: Readonly<Record<string, string>>): Promise<LoadTarget['assets']> {
  return Promise.all(
    Array.from({ length: ASSETS }, async () => {
      const subject = newSubject();
      const body = JSON.stringify({ attributes: { arc_display_type: 'vcon', subject } });
      const { status, bytes } = await client.send({ method: 'POST', path: '/archivist/v2/assets', headers, body });
      if (status !== 200) throw new Error(`the creation of an asset answered ${status}`);
      return { assetId: JSON.parse(bytes.toString()).identity.slice('assets/'.length), subject };
    }),
  );
}

async function publishedKeys(client: HttpClient) {
  const keys = async (path: string) => readKeyDocument((await client.send({ method: 'GET', path })).bytes);
  return {
    logKeys: await keys('/.well-known/scitt-keys'),
    issuerKeys: await keys('/archivist/v1/didweb/did.json'),
  };
}

/** The service's answer to a create request, as text. */
export async function sampleAnswer({ target, reader, headers }: ServiceUnderTest): Promise<string> {
  const { assetId, subject } = target.assets[0]!;
  const path = `/archivist/v2/assets/${assetId}/events`;
  const { status, bytes } = await reader.send({ method: 'POST', path, headers, body: templateEventBody(subject) });
  if (status !== 200) throw new Error(`the creation of an event answered ${status}`);
  return bytes.toString('utf8');
}

/** One of the proofs of an event, or undefined while its log is not sealed. @throws {Error} for any other answer */
export async function proof(
  { reader, headers }: ServiceUnderTest,
  identity: string,
  name: 'receipt' | 'transparent-statement',
): Promise<Uint8Array | undefined> {
  const { status, bytes } = await reader.send({ method: 'GET', path: `/archivist/v2/${identity}/${name}`, headers });
  if (status === 200) return bytes;
  if (status === 404) return undefined;
  throw new Error(`a ${name} was answered with ${status}`);
}

/** Resolves when an event has this proof, at most `POLL_MS` late. @throws {Error} when it does not come */
export async function awaitProof(
  service: ServiceUnderTest,
  identity: string,
  name: 'receipt' | 'transparent-statement',
): Promise<Uint8Array> {
  for (const until = Date.now() + SETTLED_WITHIN_MS; Date.now() < until; await wait(POLL_MS)) {
    const bytes = await proof(service, identity, name);
    if (bytes) return bytes;
  }
  throw new Error(`${identity} had no ${name} within ${SETTLED_WITHIN_MS / 1000} s`);
}

/** Resolves when the logs have worked off a load, so that the next measurement does not pay for this one. */
export async function settle(service: ServiceUnderTest, posts: readonly AcceptedPost[]): Promise<void> {
  // One after the other: many polls at once would slow what they wait for.
  for (const { identity } of posts.slice(-NEWEST)) await awaitProof(service, identity, 'transparent-statement');
}
