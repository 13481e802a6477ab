import type { Tx } from '../platform/postgres/database.js';
import { readInGroups } from '../platform/postgres/read-in-groups.js';
import { type QueuedEntry, waitingEntries } from './intake-store.js';
import { leafEntries } from './leaf-entries.js';
import type { LeafEntry, WaitingEntry } from './leaf-source.js';
import { committedEntryIds } from './leaf-store.js';
import type { LedgerContext } from './ledger-context.js';
import type { LogState } from './log.js';
import { massifLeaves } from './massif-view.js';
import type { UnsignedStatement } from './sign-statements.js';

/** Most entries of a batch. */
export const BATCH = 1_000;
/** A batch ends before the entry with which its entries would be longer than this, in bytes: a round has all of them in memory. */
const BATCH_BYTES = 16 * 1024 * 1024;

/** Waiting entries with everything that is needed to commit them. */
export interface WaitingBatch {
  /** In id order. */
  readonly entries: readonly WaitingEntry[];
  /** More may wait after these. */
  readonly more: boolean;
  /** Those that the log has committed already. */
  readonly done: ReadonlySet<string>;
  /** By entry id: events, and statements whose bytes are stored. */
  readonly leaves: ReadonlyMap<string, LeafEntry>;
  /** Statements that the service must sign first. */
  readonly unsigned: readonly UnsignedStatement[];
  /**
   * Whether the entries came to wait; the batch may be stored only if they did. Undefined for entries that were read from
   * the intake.
   */
  readonly came?: Promise<boolean>;
}

/**
 * A batch ends where a massif does: the last seal of a full massif must be at exactly its full size (massif format).
 */
function room(log: LogState): number {
  if (log.structure !== 'MMR_SHA256') return BATCH;
  const leaves = massifLeaves(log);
  return Math.min(BATCH, Number(leaves - (log.leaves % leaves)));
}

/** The first entries that fit into a batch; always one. */
function fitting(entries: readonly QueuedEntry[]): readonly QueuedEntry[] {
  let bytes = 0;
  const end = entries.findIndex(({ entryLength }, place) => {
    bytes += entryLength;
    return place > 0 && bytes > BATCH_BYTES;
  });
  return end === -1 ? entries : entries.slice(0, end);
}

/** Reads the oldest entries that wait for a log after the entry `after`, in three round trips regardless of their number. */
export async function readBatch(tx: Tx, context: LedgerContext, log: LogState, after: string): Promise<WaitingBatch> {
  const limit = room(log);
  const waiting = await waitingEntries(tx, log, after, limit);
  const entries = fitting(waiting);
  const [done, leaves] = await Promise.all([
    committedEntryIds(
      tx,
      log,
      entries.map(({ entryId }) => entryId),
    ),
    leafEntries(tx, context, log, entries),
  ]);
  const unsigned = entries.filter(
    ({ entryId, entryKind }) => entryKind === 'statement' && !leaves.has(entryId) && !done.has(entryId),
  );
  const more = waiting.length === limit || entries.length < waiting.length;
  return { entries, more, done, leaves, unsigned: await statementContents(tx, context, unsigned) };
}

async function statementContents(
  tx: Tx,
  context: LedgerContext,
  entries: readonly WaitingEntry[],
): Promise<UnsignedStatement[]> {
  if (entries.length === 0) return [];
  const read = await readInGroups(entries, (some) => context.statementSource.contents(tx, some));
  const contents = new Map(read.map((each) => [each.entryId, each]));
  return entries.flatMap(({ entryId, entryTenantId }) => {
    const found = contents.get(entryId);
    return found ? [{ entryId, entryTenantId, tenantId: found.tenantId, content: found.content }] : [];
  });
}
