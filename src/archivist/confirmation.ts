import { toBase64 } from '../core/bytes.js';
import { idtimestampHex } from '../core/massif/idtimestamp.js';
import type { EntryCommit } from '../ledger/entry-proof.js';
import { NOT_COMMITTED } from './timestamps.js';

/** How far an entry has come; derived from the logs, never stored (DESIGN 2). */
export type ConfirmationStatus = 'STORED' | 'COMMITTED' | 'CONFIRMED' | 'UNEQUIVOCAL';

/** The statuses in order of trust. */
export const TRUST_ORDER: readonly ConfirmationStatus[] = ['STORED', 'COMMITTED', 'CONFIRMED', 'UNEQUIVOCAL'];

export function confirmationStatus(commit: EntryCommit | undefined): ConfirmationStatus {
  if (!commit) return 'STORED';
  return commit.published ? 'CONFIRMED' : 'COMMITTED';
}

export interface MerklelogCommit {
  readonly index: string;
  readonly idtimestamp: string;
}

/** Index as decimal text, idtimestamp as 18 hex characters. */
export function merklelogCommit(commit: EntryCommit): MerklelogCommit {
  return { index: commit.mmrIndex.toString(), idtimestamp: idtimestampHex(commit.idtimestamp) };
}

/** `merklelog_entry` of an asset event, with no member beyond those that strict clients know (client contract 1.5). */
export function merklelogEntry(commit: EntryCommit | undefined): Record<string, unknown> {
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
    unequivocal: null,
  };
}

export function timestampCommitted(commit: EntryCommit | undefined): string {
  return commit?.timestampCommitted ?? NOT_COMMITTED;
}
