import { utf8 } from '../../core/bytes.js';
import { counted } from '../counted.js';
import type { ProvenTree } from './checked-tiles.js';
import type { KeptFiles } from './kept-files.js';
import { entriesFrom } from './published-entries.js';
import { type RegisteredSeal, readRegistered } from './registered-seals.js';

/** The statement log whose entries are read. */
interface ReadLog {
  /** Prefix of its files, without a slash at its end. */
  readonly url: string;
  readonly origin: string;
  /** It is known to publish its entries. */
  readonly publishesEntries: boolean;
}

/** File of the index of the next entry to read. */
const ENTRIES_READ = 'entries-read';

/** Entries that were read in one look. */
interface ReadEntries {
  readonly seals: readonly RegisteredSeal[];
  /** How many entries were read now, and the index of the next one to read. */
  readonly count: number;
  readonly next: bigint;
}

/**
 * Reads the entries of a statement log on from where the last look ended.
 * @param upTo entries that are as they were seen: an open fork replaced those after it
 * @throws {VerificationError} `leaf_mismatch`, `malformed`
 * @throws {LogUnreachable}
 */
export async function readOn(log: ReadLog, kept: KeptFiles, upTo: bigint, tree: ProvenTree): Promise<ReadEntries> {
  const read = new TextDecoder().decode((await kept.read(ENTRIES_READ)) ?? new Uint8Array());
  const next = /^\d{1,20}$/.test(read) ? BigInt(read) : 0n;
  const from = next < upTo ? next : upTo;
  // Who has shown entries before cannot have none now.
  const isPublished = log.publishesEntries || from > 0n;
  const seals: RegisteredSeal[] = [];
  let count = 0;
  for await (const entries of entriesFrom({ url: log.url, isPublished }, tree, from)) {
    for (const each of entries) {
      const seal = readRegistered(log.origin, each);
      if (seal) seals.push(seal);
    }
    count += entries.length;
  }
  return { seals, count, next: from + BigInt(count) };
}

/** Remembers up to where entries were read. */
export async function keepRead({ count, next }: ReadEntries, kept: KeptFiles): Promise<void> {
  if (count > 0) await kept.write(ENTRIES_READ, utf8(String(next)));
}

/** Says how many entries a log has, and how many of them were read. */
export function entriesText(size: bigint, { count, next }: ReadEntries): string {
  const text = `${counted(size, 'entry', 'entries')}, ${count} of them read now`;
  return count > 0 && next < size ? `${text}; the next round reads on at entry ${next}` : text;
}
