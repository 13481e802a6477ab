import { type CborValue, decodeCbor, encodeCbor } from '../../core/cose/cbor.js';
import { VerificationError } from '../../core/errors.js';
import { firstName } from '../../core/fork/log-generation.js';
import { isCompleteSize } from '../../core/mmr/leaf-count.js';
import { readSeal, type Seal } from '../../core/receipt/seal.js';
import { type KeptFiles, StateDamaged } from './kept-files.js';
import type { PublishedEntry } from './published-entries.js';

/** A seal of a tenancy log that stands in a statement log as an entry. */
export interface RegisteredSeal extends PublishedEntry {
  /** Name of the statement log. */
  readonly origin: string;
  readonly seal: Seal;
}

/** File of the registered seals that the log of this folder was not compared with yet: CBOR, `[origin, index, seal]` each. */
const REGISTERED = 'registered.cbor';
const UNLIMITED = { maxBytes: Number.MAX_SAFE_INTEGER, maxItems: Number.MAX_SAFE_INTEGER };

/**
 * Reads an entry as a registered seal; undefined for every other entry. Only the service itself can register one: the
 * entry of a statement that somebody sent has an empty unprotected header, and so no peak receipts.
 */
export function readRegistered(origin: string, { index, entry }: PublishedEntry): RegisteredSeal | undefined {
  try {
    const seal = readSeal(entry);
    const { size } = seal.state;
    if (seal.peakReceipts.length === 0 || size === 0n || !isCompleteSize(size)) return undefined;
    return tenancyOf(seal) === undefined ? undefined : { origin, index, entry, seal };
  } catch (error) {
    if (error instanceof VerificationError) return undefined;
    throw error;
  }
}

/** Returns the uuid of the tenancy whose log a seal names as its own, in whatever generation; undefined for other names. */
export function tenancyOf({ subject = '' }: Seal): string | undefined {
  return /^tenant\/([0-9a-f-]{36})$/.exec(firstName(subject))?.[1];
}

function decodeWaiting(bytes: Uint8Array): RegisteredSeal[] {
  return (decodeCbor(bytes, UNLIMITED) as CborValue[]).map((each) => {
    const [origin, index, entry] = each as [string, number, Uint8Array];
    const seal = readRegistered(origin, { index: BigInt(index), entry });
    if (!seal) throw new TypeError(`entry ${index} is no seal`);
    return seal;
  });
}

/** Reads the registered seals that wait for the comparison. @throws {StateDamaged} */
export async function waitingSeals(kept: KeptFiles): Promise<RegisteredSeal[]> {
  const bytes = await kept.read(REGISTERED);
  try {
    return bytes ? decodeWaiting(bytes) : [];
  } catch {
    throw new StateDamaged(
      `the saved ${REGISTERED} is damaged: delete it, and the file entries-read of each statement log, so that they are read again`,
    );
  }
}

/** Keeps exactly these as the registered seals that wait. */
export async function keepWaiting(kept: KeptFiles, seals: readonly RegisteredSeal[]): Promise<void> {
  if (seals.length === 0 && !(await kept.read(REGISTERED))) return;
  await kept.write(REGISTERED, encodeCbor(seals.map(({ origin, index, entry }) => [origin, index, entry])));
}

/** Adds registered seals to those that wait. After a crash one may wait twice, and is compared twice. */
export async function addWaiting(kept: KeptFiles, seals: readonly RegisteredSeal[]): Promise<void> {
  await keepWaiting(kept, [...(await waitingSeals(kept)), ...seals]);
}
