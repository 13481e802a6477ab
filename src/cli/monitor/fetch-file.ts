import { concatBytes } from '../../core/bytes.js';
import { certificateFault } from '../../platform/explain-failure.js';

/** The log cannot be reached, or its answer is not usable. Nothing is known against the log yet. */
export class LogUnreachable extends Error {
  override readonly name = 'LogUnreachable';
}

const TIME_LIMIT_MS = 30_000;
const MOST_BYTES = 64 * 1024 * 1024;

/** Returns a file of a log; undefined if it does not exist (404). @throws {LogUnreachable} */
export async function fetchFile(url: string): Promise<Uint8Array | undefined> {
  // A log that is watched does not choose what else we ask for.
  const response = await fetch(url, { signal: AbortSignal.timeout(TIME_LIMIT_MS), redirect: 'manual' }).catch(
    (error: unknown) => {
      const remedy = certificateFault(error) ?? 'check the address, the network and the service';
      throw new LogUnreachable(`${url} does not answer: ${remedy}`);
    },
  );
  if (response.status === 404) return undefined;
  const elsewhere = response.headers.get('location');
  if (response.status >= 300 && response.status < 400 && elsewhere !== null)
    throw new LogUnreachable(`${url} redirects to ${elsewhere}: give the address of the service there`);
  if (!response.ok) throw new LogUnreachable(`${url} answers ${response.status}`);
  const length = Number(response.headers.get('content-length') ?? 0);
  if (length > MOST_BYTES) throw new LogUnreachable(`${url} answers ${length} bytes, more than ${MOST_BYTES}`);
  return boundedBody(response, url);
}

/** The length that a server names is its word alone. */
async function boundedBody(response: Response, url: string): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of response.body ?? []) {
      chunks.push(chunk as Uint8Array);
      length += (chunk as Uint8Array).length;
      if (length > MOST_BYTES) break;
    }
  } catch {
    throw new LogUnreachable(`${url} ended before all of it was sent`);
  }
  if (length > MOST_BYTES) throw new LogUnreachable(`${url} answers more than ${MOST_BYTES} bytes`);
  return concatBytes(...chunks);
}

/** Returns a file of a log that must exist. @throws {LogUnreachable} */
export async function requireFile(url: string): Promise<Uint8Array> {
  const bytes = await fetchFile(url);
  if (!bytes) throw new LogUnreachable(`${url} does not exist (404)`);
  return bytes;
}
