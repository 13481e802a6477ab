import type { Clock } from '../../src/platform/clock.js';
import { fetchDirect } from '../../src/platform/http/fetch-direct.js';

/** What the service's clock showed between two readings of this machine's; Unix milliseconds. */
interface ServiceTime {
  readonly beforeMs: number;
  readonly otherMs: number;
  readonly afterMs: number;
}

const TIMEOUT_MS = 5_000;
/** A Date header names the second that has begun: on average it is half a second behind. */
const HALF_A_SECOND_MS = 500;
/** A request without a token; the service answers 401 only while it knows nothing against its own clock. */
const GUARDED_PATH = '/archivist/iam/v1/principal';
const UNAUTHORIZED = 401;

/**
 * Asks the service for its time (the `Date` header). Undefined if it does not answer, or does not vouch for its clock.
 * @param url base of the service, without `/archivist`
 */
export async function serviceTime(url: string, clock: Clock): Promise<ServiceTime | undefined> {
  const beforeMs = clock.now();
  try {
    const response = await fetchDirect(url + GUARDED_PATH, {}, TIMEOUT_MS);
    const afterMs = clock.now();
    await response.body?.cancel();
    const dateMs = Date.parse(response.headers.get('date') ?? '');
    if (response.status !== UNAUTHORIZED || Number.isNaN(dateMs)) return undefined;
    return { beforeMs, otherMs: dateMs + HALF_A_SECOND_MS, afterMs };
  } catch {
    return undefined;
  }
}
