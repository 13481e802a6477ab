import { setTimeout as wait } from 'node:timers/promises';
import { UsageError } from '../core/evidence/usage-error.js';
import { certificateFault, failureReason } from '../platform/explain-failure.js';
import type { Config } from '../service/config/config.js';
import { type PluginCredentials, pluginCredentials } from '../service/plugin-credentials.js';
import { serviceUrl } from './service-url.js';

/** Reads from a running service with the access of one of its applications. */
export interface ArchivistReader {
  json(path: string, body?: object): Promise<Record<string, unknown>>;
  bytes(path: string): Promise<Uint8Array>;
}

const TIME_LIMIT_MS = 60_000;
/** A service that is busy, or has not sealed an event yet, says when to come again. */
const TRIES = 10;
const LONGEST_WAIT_SECONDS = 60;

/**
 * Signs in with `ARCHIVIST_CLIENT_ID` and `ARCHIVIST_CLIENT_SECRET`, or with the first Owner's credentials.
 * @throws {UsageError} if there are no credentials, and for every request that the service refuses
 */
export async function openReader(config: Config): Promise<ArchivistReader> {
  const url = serviceUrl(config);
  const token = await accessToken(url, await credentials(config));
  const send = async (path: string, body?: object): Promise<Response> => {
    for (let tries = 1; ; tries += 1) {
      const response = await request(`${url}${path}`, {
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
      });
      if (response.ok) return response;
      const seconds = secondsToWait(response);
      if (seconds === undefined || tries === TRIES)
        throw new UsageError(`the service answered ${response.status} at ${path.replace(/\?.*/, '')}`);
      await response.body?.cancel();
      await wait(seconds * 1000);
    }
  };
  return {
    json: async (path, body) => {
      const answer = await send(path, body);
      return (await read(answer, path, answer.json())) as Record<string, unknown>;
    },
    bytes: async (path) => {
      const answer = await send(path);
      return new Uint8Array(await read(answer, path, answer.arrayBuffer()));
    },
  };
}

/** Undefined for a refusal that no wait changes. */
function secondsToWait({ headers }: Response): number | undefined {
  const seconds = Number(headers.get('retry-after'));
  return seconds > 0 && seconds <= LONGEST_WAIT_SECONDS ? seconds : undefined;
}

/** @throws {UsageError} if the connection ends within the answer, or the answer is not JSON where it must be */
function read<Body>({ status }: Response, path: string, body: Promise<Body>): Promise<Body> {
  return body.catch((error: unknown) => {
    const what = `the answer ${status} of the service at ${path.replace(/\?.*/, '')} cannot be read`;
    throw new UsageError(`${what}: ${failureReason(error)}. Run the same command again`);
  });
}

async function request(url: string, options: RequestInit): Promise<Response> {
  return fetch(url, { ...options, signal: AbortSignal.timeout(TIME_LIMIT_MS) }).catch((error: unknown) => {
    const remedy = certificateFault(error) ?? 'start the service, or set ARCHIVIST_URL to its address';
    throw new UsageError(`no answer from ${new URL(url).origin}: ${remedy}`);
  });
}

async function credentials(config: Config): Promise<PluginCredentials> {
  const found = await pluginCredentials(config);
  if (found) return found;
  throw new UsageError(
    'set ARCHIVIST_CLIENT_ID and ARCHIVIST_CLIENT_SECRET to the credentials of an application that may read events',
  );
}

async function accessToken(url: string, { clientId, clientSecret }: PluginCredentials): Promise<string> {
  const response = await request(`${url}/archivist/iam/v1/appidp/token`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret }),
  });
  const { access_token: token } = (await response.json().catch(() => ({}))) as { access_token?: unknown };
  if (typeof token !== 'string') throw new UsageError(`the service answered ${response.status} to the credentials`);
  return token;
}
