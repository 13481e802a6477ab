import { idtimestampMs, nextIdtimestamp } from '../core/massif/idtimestamp.js';
import { appendLeaves } from '../core/mmr/append-leaves.js';
import type { Tx } from '../platform/postgres/database.js';
import { committableEntries, deleteIntake } from './intake-store.js';
import { leafEntries } from './leaf-entries.js';
import type { LeafEntry, WaitingEntry } from './leaf-source.js';
import { committedEntryIds, insertLeaves, type LeafRow } from './leaf-store.js';
import type { LedgerContext } from './ledger-context.js';
import { type LogState, parentHash } from './log.js';
import { boundIdleTime, leasedLog, swapSize } from './log-store.js';
import { massifLeaves } from './massif-view.js';
import { appendNodes } from './node-page-store.js';
import { sealedState } from './sealed-peaks.js';

const BATCH = 1_000;

/** A leaf with its index, time and hash. */
interface PlacedLeaf {
  readonly row: LeafRow;
  readonly hash: Uint8Array;
}

/**
 * A batch ends where a massif does: the last seal of a full massif must be at exactly its full size (massif format).
 */
function room(log: LogState): number {
  if (log.structure !== 'MMR_SHA256') return BATCH;
  const leaves = massifLeaves(log);
  return Math.min(BATCH, Number(leaves - (log.leaves % leaves)));
}

function placeLeaf(log: LogState, entry: WaitingEntry, leaf: LeafEntry, leafIndex: bigint, id: bigint): PlacedLeaf {
  const timestampCommitted = new Date(idtimestampMs(id)).toISOString();
  const hash = leaf.leaf(id, timestampCommitted);
  if (hash.length !== 32) throw new TypeError('a leaf is 32 bytes');
  if (log.structure === 'MMR_SHA256' && leaf.trieKey?.length !== 32) throw new TypeError('a trie key is 32 bytes');
  const { trieKey = null, extraBytes = null } = leaf;
  return { row: { ...entry, leafIndex, idtimestamp: id, timestampCommitted, trieKey, extraBytes }, hash };
}

/** Assigns indexes and rising times to entries; an entry without a leaf keeps waiting and does not block the others. */
function placeLeaves(
  context: LedgerContext,
  log: LogState,
  entries: readonly WaitingEntry[],
  leaves: ReadonlyMap<string, LeafEntry>,
): PlacedLeaf[] {
  const placed: PlacedLeaf[] = [];
  let last = log.lastIdtimestamp;
  for (const entry of entries) {
    try {
      const leaf = leaves.get(entry.entryId);
      if (!leaf) throw new TypeError('the entry is not known');
      const id = nextIdtimestamp(last, context.clock.now());
      placed.push(placeLeaf(log, entry, leaf, log.leaves + BigInt(placed.length), id));
      last = id;
    } catch (error) {
      context.logger.error({ err: error, logId: log.logId, entryId: entry.entryId }, 'an entry cannot be committed');
    }
  }
  return placed;
}

async function commitIn(tx: Tx, context: LedgerContext, lease: LogState): Promise<LogState> {
  await boundIdleTime(tx);
  const log = await leasedLog(tx, lease);
  const entries = await committableEntries(tx, log, room(log));
  if (entries.length === 0) return log;
  const done = await committedEntryIds(
    tx,
    log,
    entries.map((entry) => entry.entryId),
  );
  const fresh = entries.filter((entry) => !done.has(entry.entryId));
  const placed = placeLeaves(context, log, fresh, await leafEntries(tx, context, log, fresh));
  const taken = [...done, ...placed.map(({ row }) => row.entryId)];
  if (placed.length === 0) {
    await deleteIntake(tx, log, taken);
    return log;
  }
  const { peaks } = await sealedState(tx, context, log);
  const appended = appendLeaves(
    parentHash(log.structure),
    log.size,
    peaks,
    placed.map(({ hash }) => hash),
  );
  const next = {
    size: appended.size,
    leaves: log.leaves + BigInt(placed.length),
    lastIdtimestamp: placed.at(-1)!.row.idtimestamp,
  };
  // First, so that the loser of two sequencers waits here and stops before it writes more.
  await swapSize(tx, log, next);
  await appendNodes(tx, log, log.size, appended.nodes);
  await insertLeaves(
    tx,
    log,
    placed.map(({ row }) => row),
  );
  await deleteIntake(tx, log, taken);
  await context.failpoints.reach('commit.inside');
  return { ...log, ...next };
}

/**
 * Commits the oldest waiting entries to a sealed log, in one transaction: assigns strictly rising idtimestamps, stores
 * leaves and nodes, removes the entries from the intake. Resolves with the log as it is then; unchanged if nothing
 * could be committed.
 * @throws {LeaseLost} if this holder does not hold the log, or no longer does
 * @throws {LogInconsistent} if the stored nodes are not those that the last seal signed
 */
export async function commitBatch(context: LedgerContext, lease: LogState): Promise<LogState> {
  await context.failpoints.reach('commit.before');
  const log = await context.database.inTransaction('system', (tx) => commitIn(tx, context, lease));
  await context.failpoints.reach('commit.after');
  return log;
}
