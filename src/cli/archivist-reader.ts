import type { Config } from '../platform/config.js';
import { readCredentials } from '../service/first-credentials.js';
import { UsageError } from './evidence-file.js';

/** Reads from a running service as one of its applications. */
export interface ArchivistReader {
  json(path: string, body?: object): Promise<Record<string, unknown>>;
  bytes(path: string): Promise<Uint8Array>;
}

const TIME_LIMIT_MS = 60_000;

/**
 * Signs in with `ARCHIVIST_CLIENT_ID` and `ARCHIVIST_CLIENT_SECRET`, or with the first Owner's credentials in `DATA_DIR`.
 * @throws {UsageError} without credentials, and for every request that the service refuses
 */
export async function openReader(config: Config): Promise<ArchivistReader> {
  const url = config.plugin.archivistUrl ?? config.publicUrl;
  const token = await accessToken(url, await credentials(config));
  const send = async (path: string, body?: object): Promise<Response> => {
    const response = await request(`${url}${path}`, {
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
    });
    if (!response.ok) throw new UsageError(`the service answered ${response.status} at ${path.replace(/\?.*/, '')}`);
    return response;
  };
  return {
    json: async (path, body) => (await (await send(path, body)).json()) as Record<string, unknown>,
    bytes: async (path) => new Uint8Array(await (await send(path)).arrayBuffer()),
  };
}

async function request(url: string, options: RequestInit): Promise<Response> {
  return fetch(url, { ...options, signal: AbortSignal.timeout(TIME_LIMIT_MS) }).catch(() => {
    throw new UsageError(`no answer from ${new URL(url).origin}: is ARCHIVIST_URL right?`);
  });
}

async function credentials({ plugin, dataDir }: Config): Promise<{ id: string; secret: string }> {
  if (plugin.clientId !== undefined && plugin.clientSecret !== undefined)
    return { id: plugin.clientId, secret: plugin.clientSecret };
  const first = await readCredentials(dataDir).catch(() => undefined);
  if (first) return { id: first.client_id, secret: first.client_secret };
  throw new UsageError('set ARCHIVIST_CLIENT_ID and ARCHIVIST_CLIENT_SECRET to those of an application that may read');
}

async function accessToken(url: string, { id, secret }: { id: string; secret: string }): Promise<string> {
  const response = await request(`${url}/archivist/iam/v1/appidp/token`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'client_credentials', client_id: id, client_secret: secret }),
  });
  const { access_token: token } = (await response.json().catch(() => ({}))) as { access_token?: unknown };
  if (typeof token !== 'string') throw new UsageError(`the service answered ${response.status} to the credentials`);
  return token;
}
