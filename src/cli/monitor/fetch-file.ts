import { concatBytes } from '../../core/bytes.js';

/** The log cannot be reached, or answers what is no answer: nothing is known against it yet. */
export class LogUnreachable extends Error {
  override readonly name = 'LogUnreachable';
}

const TIME_LIMIT_MS = 30_000;
const MOST_BYTES = 64 * 1024 * 1024;

/** A file of a log; undefined when there is none (404). @throws {LogUnreachable} */
export async function fetchFile(url: string): Promise<Uint8Array | undefined> {
  // A log that is watched does not choose what else we ask for.
  const response = await fetch(url, { signal: AbortSignal.timeout(TIME_LIMIT_MS), redirect: 'manual' }).catch(() => {
    throw new LogUnreachable(`${url} does not answer`);
  });
  if (response.status === 404) return undefined;
  if (response.status >= 300 && response.status < 400)
    throw new LogUnreachable(
      `${url} redirects to ${response.headers.get('location')}: give the address of the service there`,
    );
  if (!response.ok) throw new LogUnreachable(`${url} answers ${response.status}`);
  const length = Number(response.headers.get('content-length') ?? 0);
  if (length > MOST_BYTES) throw new LogUnreachable(`${url} answers ${length} bytes`);
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
    throw new LogUnreachable(`${url} broke off`);
  }
  if (length > MOST_BYTES) throw new LogUnreachable(`${url} answers more than ${MOST_BYTES} bytes`);
  return concatBytes(...chunks);
}

/** The same, of a file that has to be there. @throws {LogUnreachable} */
export async function requireFile(url: string): Promise<Uint8Array> {
  const bytes = await fetchFile(url);
  if (!bytes) throw new LogUnreachable(`${url} is not there`);
  return bytes;
}
