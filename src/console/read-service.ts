import { VerificationError } from '../core/errors.js';
import { UsageError } from '../core/evidence/usage-error.js';
import { ASSET_TEXTS } from './asset-texts.js';
import { memberOf } from './json-members.js';
import { TEXTS } from './texts.js';

/** What a person is told of a failure. An error that is not about the evidence or the service is a bug of the page. */
export function faultText(error: unknown): string {
  if (error instanceof UsageError || error instanceof VerificationError) return error.message;
  console.error(error);
  return TEXTS.failed;
}

/** Reads a public URL of the service that the page is from. @throws {UsageError} when it does not answer */
export async function readService(url: string): Promise<Uint8Array> {
  try {
    // What is public is the same for everybody: the reader's session is not sent.
    const response = await fetch(url, { headers: { accept: 'application/json, */*;q=0.5' }, credentials: 'omit' });
    if (response.ok) return new Uint8Array(await response.arrayBuffer());
    const why = memberOf(await response.json().catch(() => undefined), 'description');
    if (typeof why === 'string') throw new UsageError(why);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
  throw new UsageError(ASSET_TEXTS.unanswered(url));
}
