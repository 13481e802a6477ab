import { equalBytes } from '../../core/bytes.js';
import { VerificationError } from '../../core/errors.js';
import { rfc9162Leaf } from '../../core/rfc9162/rfc9162-leaf.js';
import type { KeptFiles } from './kept-files.js';

/** An entry that is known from elsewhere, and the place that it must have in the log. */
export interface KnownEntry {
  readonly index: bigint;
  readonly entry: Uint8Array;
}

/** The leaf of the newest known entry that the log was seen to hold, and of the newest one, since it was first seen. */
const [HELD, AWAITED] = ['held-entry', 'awaited-entry'];
/** A service needs seconds. */
export const MOST_AWAITED_MS = 600_000;

/** Whether the log was seen to hold the entry. */
export async function isHeld({ entry }: KnownEntry, kept: KeptFiles): Promise<boolean> {
  const held = await kept.read(HELD);
  return held !== undefined && equalBytes(held, rfc9162Leaf(entry));
}

/**
 * Remembers that a log of this size holds the entry, or since when it does not.
 * @throws {VerificationError} `consistency_invalid` if a log does not hold the entry ten minutes after it was first seen: who
 *   shows an old state of the log can show any entry beside it
 */
export async function rememberKnown(known: KnownEntry, size: bigint, kept: KeptFiles, nowMs: number): Promise<void> {
  const leaf = rfc9162Leaf(known.entry);
  if (known.index < size) {
    await kept.write(HELD, leaf);
    return;
  }
  await kept.write(AWAITED, leaf);
  if (nowMs - ((await kept.changedAt(AWAITED)) ?? nowMs) <= MOST_AWAITED_MS) return;
  throw new VerificationError(
    'consistency_invalid',
    `it does not hold entry ${known.index}, which the service has shown elsewhere for more than ten minutes`,
  );
}
