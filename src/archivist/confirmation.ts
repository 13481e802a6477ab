import { z } from 'zod';
import { toBase64 } from '../core/bytes.js';
import { idtimestampHex } from '../core/massif/idtimestamp.js';
import type { EntryCommit } from '../ledger/entry-proof.js';
import { NOT_COMMITTED } from '../platform/timestamps.js';

/**
 * The progress of an entry, in order of trust; derived from the logs, never stored
 * (docs/design/README.md#one-operation).
 */
export const confirmationStatusSchema = z.enum(['STORED', 'COMMITTED', 'CONFIRMED', 'UNEQUIVOCAL']);
export type ConfirmationStatus = z.infer<typeof confirmationStatusSchema>;

export function confirmationStatus(commit: EntryCommit | undefined): ConfirmationStatus {
  if (!commit) return 'STORED';
  if (!commit.published) return 'COMMITTED';
  return commit.witnessed ? 'UNEQUIVOCAL' : 'CONFIRMED';
}

const uint64 = z.string().meta({ format: 'uint64' });
const base64 = z.string().meta({ format: 'byte' });

export const merklelogCommitSchema = z.strictObject({ index: uint64, idtimestamp: z.string() });
type MerklelogCommit = Readonly<z.infer<typeof merklelogCommitSchema>>;

/** `merklelog_entry` of an asset event: each part is null until the log has reached that stage. */
export const merklelogEntrySchema = z.strictObject({
  commit: merklelogCommitSchema.nullable(),
  confirm: z
    .strictObject({
      mmr_size: uint64,
      root: base64,
      timestamp: z.string().meta({ format: 'int64' }),
      idtimestamp: z.string(),
      signed_tree_head: base64,
    })
    .nullable(),
  unequivocal: z.strictObject({}).nullable(),
});

/** Index as decimal text, idtimestamp as 18 hex characters. */
export function merklelogCommit(commit: EntryCommit): MerklelogCommit {
  return { index: commit.mmrIndex.toString(), idtimestamp: idtimestampHex(commit.idtimestamp) };
}

/**
 * `merklelog_entry` of an asset event, with only the members that strict clients accept
 * (docs/design/interface.md#existing-clients).
 */
export function merklelogEntry(commit: EntryCommit | undefined): z.infer<typeof merklelogEntrySchema> {
  if (!commit) return { commit: null, confirm: null, unequivocal: null };
  const published = commit.published;
  return {
    commit: merklelogCommit(commit),
    confirm: published
      ? {
          mmr_size: published.size.toString(),
          root: toBase64(published.root),
          timestamp: String(published.sealedAtMs),
          idtimestamp: '',
          signed_tree_head: '',
        }
      : null,
    unequivocal: commit.witnessed ? {} : null,
  };
}

/** The same progress, for an entry that never goes beyond CONFIRMED (docs/design/README.md#one-operation). */
export function neverWitnessed<Commit extends EntryCommit | undefined>(commit: Commit): Commit {
  return commit && { ...commit, witnessed: false };
}

export function timestampCommitted(commit: EntryCommit | undefined): string {
  return commit?.timestampCommitted ?? NOT_COMMITTED;
}
