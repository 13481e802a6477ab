import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DEMO_OPERATIONS } from './demo-conversations.js';
import { readCredentials } from './first-credentials.js';

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
 * Fills a service with the evidence of two conversations, as a conserver would report them, and leaves their files for
 * the reader. A service that has events already stays as it is.
 * @throws {Error} if the service refuses an operation, or does not seal them in time
 */
export async function fillDemo({ url, pluginUrl, dataDir }: DemoPlace): Promise<void> {
  const folder = demoFolder(dataDir);
  const list = await eventList(url, dataDir);
  if ((await list()).length > 0) return;
  for (const { operation, link, file, vcon } of DEMO_OPERATIONS) {
    const document = JSON.stringify(vcon);
    await writeFile(join(folder, `${file}.vcon.json`), document);
    const target = `${pluginUrl}/chains/demo/links/${link}/operations/${operation}`;
    const reply = await send(target, { method: 'POST', body: document });
    if (!reply.ok) throw new Error(`the plugin answered ${reply.status} to ${operation}: ${await reply.text()}`);
    await reply.arrayBuffer();
  }
  await sealed(list);
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

type List = () => Promise<readonly { readonly confirmation_status: string; readonly operation: string }[]>;

/** Reads the events of the first tenancy with the credentials of its Owner. */
async function eventList(url: string, dataDir: string): Promise<List> {
  const credentials = await readCredentials(dataDir);
  if (!credentials) throw new Error(`${dataDir} has no credentials of the first Owner`);
  const { client_id, client_secret } = credentials;
  const form = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret });
  const issued = await send(`${url}/archivist/iam/v1/appidp/token`, { method: 'POST', body: form });
  if (!issued.ok) throw new Error(`no token for the first Owner: ${issued.status}`);
  const { access_token } = (await issued.json()) as { access_token: string };
  return async () => {
    const headers = { authorization: `Bearer ${access_token}` };
    const reply = await send(`${url}/archivist/v2/assets/-/events`, { headers });
    return ((await reply.json()) as { events: Awaited<ReturnType<List>> }).events;
  };
}

async function sealed(list: List): Promise<void> {
  for (const until = Date.now() + SEALED_WITHIN_MS; Date.now() < until; ) {
    const recorded = (await list()).filter(({ operation }) => operation === 'Record');
    const isSealed = recorded.every(({ confirmation_status: status }) => /^(CONFIRMED|UNEQUIVOCAL)$/.test(status));
    if (recorded.length >= DEMO_OPERATIONS.length && isSealed) return;
    await new Promise((wake) => setTimeout(wake, ASK_EVERY_MS));
  }
  throw new Error(`the demo’s events were not sealed within ${SEALED_WITHIN_MS / 1000} seconds`);
}
