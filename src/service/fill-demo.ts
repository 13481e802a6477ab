import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DEMO_OPERATIONS } from './demo-conversations.js';
import { DEMO_ASSETS, DEMO_POLICIES, PUBLIC_ASSET_QUERY } from './demo-records.js';
import { readCredentials } from './first-credentials.js';

const ASSETS = '/archivist/v2/assets';
const SEALED_WITHIN_MS = 60_000;
const ASK_EVERY_MS = 250;
const MOST_TRIES = 5;

/** Where the demo is filled in. */
interface DemoPlace {
  readonly url: string;
  /** Where a conserver posts operations. */
  readonly pluginUrl: string;
  readonly dataDir: string;
}

/** The folder for the files of the demo. */
export function demoFolder(dataDir: string): string {
  return join(dataDir, 'demo-files');
}

/**
 * Fills a service with evidence: of two conversations, as a conserver would report them, with their files for the reader,
 * and of what their Owner does beside them. A service that has events already stays as it is.
 * @returns the path of the demo's public asset; undefined in a demo that was filled without one
 * @throws {Error} if the service refuses a request, or does not seal the events in time
 */
export async function fillDemo({ url, pluginUrl, dataDir }: DemoPlace): Promise<string | undefined> {
  const owner = await firstOwner(url, dataDir);
  if ((await eventsOf(owner)).length === 0) {
    await record(owner);
    // Lists begin with what is newest, and people come for the conversations.
    await capture(pluginUrl, demoFolder(dataDir));
    await sealed(owner);
  }
  const { assets } = (await owner('GET', `${ASSETS}?${PUBLIC_ASSET_QUERY}`)) as { assets: readonly Identified[] };
  return assets[0] && `/archivist/v2/public${assets[0].identity}`;
}

async function capture(pluginUrl: string, folder: string): Promise<void> {
  for (const { operation, link, file, vcon } of DEMO_OPERATIONS) {
    const document = JSON.stringify(vcon);
    await writeFile(join(folder, `${file}.vcon.json`), document);
    const target = `${pluginUrl}/chains/demo/links/${link}/operations/${operation}`;
    const reply = await send(target, { method: 'POST', body: document });
    if (!reply.ok) throw new Error(`the plugin answered ${reply.status} to ${operation}: ${await reply.text()}`);
    await reply.arrayBuffer();
  }
}

async function record(owner: Owner): Promise<void> {
  for (const [path, body] of DEMO_POLICIES) await owner('POST', path, body);
  for (const { events, ...asset } of DEMO_ASSETS) {
    const { identity } = (await owner('POST', ASSETS, asset)) as Identified;
    for (const event_attributes of events)
      await owner('POST', `/archivist/v2/${identity}/events`, {
        operation: 'Record',
        behaviour: 'RecordEvidence',
        event_attributes,
      });
  }
}

/**
 * Sends a request to this process itself. A machine that is busy with its first start may let a connection time out, so
 * it is tried again.
 */
async function send(url: string, init: RequestInit): Promise<Response> {
  for (let tries = 1; ; tries += 1)
    try {
      return await fetch(url, init);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      const { cause } = error;
      const why = cause instanceof Error ? cause.message : error.message;
      if (tries === MOST_TRIES) throw new Error(`the demo cannot reach ${new URL(url).origin}: ${why}`);
      await new Promise((wake) => setTimeout(wake, ASK_EVERY_MS));
    }
}

interface Identified {
  readonly identity: string;
}

/** Sends a request of the public interface as the first Owner. @throws {Error} if the service refuses it */
type Owner = (method: 'GET' | 'POST', path: string, body?: object) => Promise<unknown>;

async function firstOwner(url: string, dataDir: string): Promise<Owner> {
  const credentials = await readCredentials(dataDir);
  if (!credentials) throw new Error(`${dataDir} has no credentials of the first Owner`);
  const { client_id, client_secret } = credentials;
  const form = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret });
  const issued = await send(`${url}/archivist/iam/v1/appidp/token`, { method: 'POST', body: form });
  if (!issued.ok) throw new Error(`no token for the first Owner: ${issued.status}`);
  const { access_token } = (await issued.json()) as { access_token: string };
  const headers = { authorization: `Bearer ${access_token}`, 'content-type': 'application/json' };
  return async (method, path, body) => {
    const reply = await send(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    if (!reply.ok) throw new Error(`the service answered ${reply.status} to ${path}: ${await reply.text()}`);
    return reply.json();
  };
}

interface ListedEvent {
  readonly confirmation_status: string;
  readonly operation: string;
}

async function eventsOf(owner: Owner): Promise<readonly ListedEvent[]> {
  const { events } = (await owner('GET', `${ASSETS}/-/events?page_size=100`)) as { events: readonly ListedEvent[] };
  return events;
}

async function sealed(owner: Owner): Promise<void> {
  const expected = DEMO_OPERATIONS.length + DEMO_ASSETS.flatMap(({ events }) => events).length;
  for (const until = Date.now() + SEALED_WITHIN_MS; Date.now() < until; ) {
    const recorded = (await eventsOf(owner)).filter(({ operation }) => operation === 'Record');
    const isSealed = recorded.every(({ confirmation_status: status }) => /^(CONFIRMED|UNEQUIVOCAL)$/.test(status));
    if (recorded.length >= expected && isSealed) return;
    await new Promise((wake) => setTimeout(wake, ASK_EVERY_MS));
  }
  throw new Error(`the demo’s events were not sealed within ${SEALED_WITHIN_MS / 1000} seconds`);
}
