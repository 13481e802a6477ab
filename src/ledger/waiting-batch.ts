import type { Tx } from '../platform/postgres/database.js';
import { readInGroups } from '../platform/postgres/read-in-groups.js';
import { waitingEntries } from './intake-store.js';
import { leafEntries } from './leaf-entries.js';
import type { LeafEntry, WaitingEntry } from './leaf-source.js';
import { committedEntryIds } from './leaf-store.js';
import type { LedgerContext } from './ledger-context.js';
import type { LogState } from './log.js';
import { massifLeaves } from './massif-view.js';
import type { UnsignedStatement } from './sign-statements.js';

const BATCH = 1_000;

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
}

/**
 * A batch ends where a massif does: the last seal of a full massif must be at exactly its full size (massif format).
 */
function room(log: LogState): number {
  if (log.structure !== 'MMR_SHA256') return BATCH;
  const leaves = massifLeaves(log);
  return Math.min(BATCH, Number(leaves - (log.leaves % leaves)));
}

/** Reads the oldest entries that wait for a log after the entry `after`, in three round trips regardless of their number. */
export async function readBatch(tx: Tx, context: LedgerContext, log: LogState, after: string): Promise<WaitingBatch> {
  const limit = room(log);
  const entries = await waitingEntries(tx, log, after, limit);
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
  const more = entries.length === limit;
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
    return found ? [{ ...found, entryTenantId }] : [];
  });
}
