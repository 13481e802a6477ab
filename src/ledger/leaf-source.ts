import type { EventStatement } from '../core/statement/event-statement.js';
import type { Tx } from '../platform/postgres/database.js';
import type { LogRef } from './log.js';

export type EntryKind = 'asset_event' | 'asset_free_event' | 'statement';

/** An accepted entry that a log has not committed yet. */
export interface WaitingEntry {
  readonly entryId: string;
  readonly entryKind: EntryKind;
  /** The tenancy whose row the entry is; for a public or statement log not the log's own. */
  readonly entryTenantId: string;
}

/** What a log needs to know of an entry to commit it. */
export interface LeafEntry {
  readonly entryId: string;
  /** The leaf's 32 bytes for these two, which the log gives out; the text is hashed verbatim where the leaf covers it. */
  leaf(idtimestamp: bigint, timestampCommitted: string): Uint8Array;
  /** 32 bytes for the massif's trie; MMR logs only. */
  readonly trieKey?: Uint8Array;
  /** 24 bytes for the massif's trie; left out means zeros. */
  readonly extraBytes?: Uint8Array;
}

/** The provenance side of a commit: declared here, implemented above, wired by the composition root (docs/design/README.md#layers). */
export interface LeafSource {
  /** Leaves of entries of the kinds asset_event and asset_free_event, in any order, read in the given transaction. */
  leaves(tx: Tx, log: LogRef, entries: readonly WaitingEntry[]): Promise<LeafEntry[]>;
}

/** What to sign for an entry of the kind statement. */
export interface StatementToSign {
  readonly entryId: string;
  /** Whose event it is; of a public form, the tenancy that it was made in. */
  readonly tenantId: string;
  readonly content: EventStatement;
}

export interface StatementSource {
  /** The contents of the statements that the service makes of these entries' events; one of no such event is left out. */
  contents(tx: Tx, entries: readonly WaitingEntry[]): Promise<StatementToSign[]>;
}
