import { type PublicJwk, readKeyDocument, VerificationError } from '../../src/core/index.js';
import type { Clock } from '../../src/platform/clock.js';
import { failureOf } from './delivery-failure.js';
import { notOfService, readBytes } from './read-response.js';
import { sendRequest } from './send-request.js';

const WHAT = 'keys';

/**
 * Reads a key document that the service publishes, without a token.
 * @throws {EventRefused | DeliverLater} when the service does not give it
 */
export async function publicKeys(url: string, timeoutMs: number, clock: Clock): Promise<readonly PublicJwk[]> {
  const response = await sendRequest(WHAT, url, {}, timeoutMs);
  if (!response.ok) throw await failureOf(response, WHAT, clock.now());
  const bytes = await readBytes(response, WHAT);
  try {
    return readKeyDocument(bytes);
  } catch (error) {
    throw error instanceof VerificationError ? notOfService(WHAT) : error;
  }
}
