import type { EventStatement } from '../core/statement/event-statement.js';
import type { Tx } from '../platform/postgres/database.js';
import type { LogRef } from './log.js';

export type EntryKind = 'asset_event' | 'asset_free_event' | 'statement';

/** An accepted entry that a log has not committed yet. */
export interface WaitingEntry {
  readonly entryId: string;
  readonly entryKind: EntryKind;
  /** The tenancy that owns the entry's row; for a public or statement log this is not the log's own tenancy. */
  readonly entryTenantId: string;
}

/** The parts of an entry that a log needs to commit it. */
export interface LeafEntry {
  readonly entryId: string;
  /**
   * The leaf's 32 bytes for the two values, which the log assigns; the text is hashed verbatim if the leaf covers it.
   */
  leaf(idtimestamp: bigint, timestampCommitted: string): Uint8Array;
  /** 32 bytes for the massif's trie; MMR logs only. */
  readonly trieKey?: Uint8Array;
  /** 24 bytes for the massif's trie; default zeros. */
  readonly extraBytes?: Uint8Array;
}

/**
 * What a commit needs from the provenance side: declared here, implemented in a higher layer, connected at startup
 * (docs/design/README.md#layers).
 */
export interface LeafSource {
  /** Leaves of entries of the kinds asset_event and asset_free_event, in any order, read in the given transaction. */
  leaves(tx: Tx, log: LogRef, entries: readonly WaitingEntry[]): Promise<LeafEntry[]>;
}

/** What to sign for an entry of the kind statement. */
export interface StatementToSign {
  readonly entryId: string;
  /** The tenancy of the event; for a public form, the tenancy that created it. */
  readonly tenantId: string;
  readonly content: EventStatement;
}

export interface StatementSource {
  /**
   * The contents of the statements that the service signs for the events of these entries; other entries are left out.
   */
  contents(tx: Tx, entries: readonly WaitingEntry[]): Promise<StatementToSign[]>;
}
