import { setImmediate as turn } from 'node:timers/promises';
import { idtimestampMs, nextIdtimestamp } from '../core/massif/idtimestamp.js';
import { peaks as peakIndices } from '../core/mmr/peaks.js';
import { inPieces } from '../platform/in-pieces.js';
import type { SqlStatement } from '../platform/postgres/database.js';
import type { Frontier } from './frontier.js';
import { type GrownTree, growTree } from './grown-tree.js';
import { deleteIntake } from './intake-store.js';
import { statementLeafEntry } from './leaf-entries.js';
import type { LeafEntry, WaitingEntry } from './leaf-source.js';
import { insertLeaves, type LeafRow } from './leaf-store.js';
import type { LedgerContext } from './ledger-context.js';
import type { LogState } from './log.js';
import { LeaseLost, LogInconsistent } from './log-inconsistent.js';
import { keyIdOf, logSigner } from './log-keys.js';
import { SEQUENCER, swapGrown } from './log-store.js';
import { appendNodes, openPageOf } from './node-page-store.js';
import type { SealMemory } from './seal-memory.js';
import { insertPeakReceipts, insertSeal } from './seal-store.js';
import { type SealedBatch, sealedBatch } from './sealed-batch.js';
import { selfCheck } from './self-check.js';
import { type SignedState, signState } from './sign-state.js';
import { signStatements } from './sign-statements.js';
import { type StagedSeal, stageSeal } from './staged-seal.js';
import { insertStatements, type StoredStatement } from './statement-store.js';
import type { WaitingBatch } from './waiting-batch.js';

/** A leaf with its index, time and hash. */
interface PlacedLeaf {
  readonly row: LeafRow;
  readonly hash: Uint8Array;
  readonly leaf: LeafEntry;
}

/** Who grows a log. */
interface Grower {
  /** Names the process in the leases it takes. */
  readonly holder: string;
  /** The lease begins with this batch: the log is as the holder left it, and nobody else has taken it since. */
  readonly takesLease: boolean;
}

/** Everything that one batch writes. */
interface Growth {
  readonly holder: string;
  readonly frontier: Frontier;
  readonly placed: readonly PlacedLeaf[];
  readonly statements: readonly StoredStatement[];
  readonly tree: GrownTree;
  /** The log as the seal signs it. */
  readonly next: LogState;
  readonly signed: SignedState;
  /** Entries that leave the intake. */
  readonly taken: readonly string[];
}

function placeLeaf(
  log: LogState,
  entry: WaitingEntry,
  leaf: LeafEntry,
  leafIndex: bigint,
  idtimestamp: bigint,
): PlacedLeaf {
  const timestampCommitted = new Date(idtimestampMs(idtimestamp)).toISOString();
  const hash = leaf.leaf(idtimestamp, timestampCommitted);
  if (hash.length !== 32) throw new TypeError('a leaf is 32 bytes');
  if (log.structure === 'MMR_SHA256' && leaf.trieKey?.length !== 32) throw new TypeError('a trie key is 32 bytes');
  const { entryId, entryKind, entryTenantId } = entry;
  const { trieKey = null, extraBytes = null } = leaf;
  return {
    row: { entryId, entryKind, entryTenantId, leafIndex, idtimestamp, timestampCommitted, trieKey, extraBytes },
    hash,
    leaf,
  };
}

/**
 * Assigns indexes and rising times to entries; an entry without a leaf keeps waiting and does not block the others. Hashing
 * a thousand long events takes a tenth of a second, so other requests are served in between.
 */
async function placeLeaves(
  context: LedgerContext,
  log: LogState,
  entries: readonly WaitingEntry[],
  leaves: ReadonlyMap<string, LeafEntry>,
): Promise<PlacedLeaf[]> {
  const placed: PlacedLeaf[] = [];
  let last = log.lastIdtimestamp;
  await inPieces(entries, (entry) => {
    try {
      const leaf = leaves.get(entry.entryId);
      if (!leaf) throw new TypeError('the entry is not known');
      const id = nextIdtimestamp(last, context.clock.now());
      placed.push(placeLeaf(log, entry, leaf, log.leaves + BigInt(placed.length), id));
      last = id;
    } catch (error) {
      context.logger.error({ err: error, logId: log.logId, entryId: entry.entryId }, 'an entry cannot be committed');
    }
  });
  return placed;
}

/** The first leaf of a generation is its fork statement. @throws {LogInconsistent} */
function requireFork(log: LogState, placed: readonly PlacedLeaf[]): void {
  const fork = log.forks.at(-1);
  if (placed.length > 0 && fork?.leaves === log.leaves && placed[0]!.row.entryId !== fork.entryId)
    throw new LogInconsistent('the statement that begins this generation of the log is not there');
}

/** Signs the state that the batch leads to. Nothing is stored yet. */
async function signGrowth(
  context: LedgerContext,
  frontier: Frontier,
  placed: readonly PlacedLeaf[],
  { holder, takesLease }: Grower,
): Promise<Pick<Growth, 'holder' | 'tree' | 'next' | 'signed'>> {
  const { log } = frontier;
  const tree = growTree(
    log,
    frontier.peaks,
    placed.map(({ hash }) => hash),
  );
  const next = {
    ...log,
    size: tree.size,
    leaves: log.leaves + BigInt(placed.length),
    lastIdtimestamp: placed.at(-1)!.row.idtimestamp,
    leaseEpoch: log.leaseEpoch + (takesLease ? 1n : 0n),
  };
  await context.failpoints.reach('seal.before');
  const signer = logSigner(context, log);
  // The key may have been rotated since the frontier was read; a seal has signatures of its own key only.
  const known = keyIdOf(signer, log) === frontier.keyId ? frontier.peakReceipts : new Map<bigint, Uint8Array>();
  const signed = await signState(context, next, tree.peaks, known, signer, frontier.seal);
  await context.failpoints.reach('seal.signed');
  return { holder, tree, next, signed };
}

/** What stores a batch. The first makes the loser of two sequencers wait, and then store nothing. */
function statementsOf({ holder, frontier, placed, statements, tree, next, signed, taken }: Growth): SqlStatement[] {
  const { log } = frontier;
  return [
    // The loser's rows would collide with the winner's: the lease comes before them, so that it is the reason.
    swapGrown(log, next, holder),
    // So would those of coming statements that a round has logged before this one was told of them.
    deleteIntake(log, taken),
    // Only a process of an earlier version stores one without the lease. The bytes that it has stored are the statement.
    ...insertStatements(statements, () => new LeaseLost('a statement of the batch was signed by another process')),
    ...appendNodes(log, log.size, frontier.openPage, tree.nodes),
    ...insertLeaves(
      log,
      placed.map(({ row }) => row),
    ),
    ...insertPeakReceipts(log, signed.seal.keyId, signed.newPeakReceipts),
    ...insertSeal(log, signed.seal),
  ];
}

function proveGrowth(context: LedgerContext, { placed, tree, next, signed }: Growth): Promise<void> {
  const { row, leaf } = placed.at(-1)!;
  return selfCheck(context, next, tree, leaf.leaf(row.idtimestamp, row.timestampCommitted), signed);
}

/** @param isProven whether the last leaf was proved already */
async function storeGrowth(context: LedgerContext, growth: Growth, isProven: boolean): Promise<void> {
  const { database, failpoints } = context;
  await database.commitTogether(SEQUENCER, statementsOf(growth), async () => {
    if (!isProven) {
      // The statements go out with the end of this turn, and the database runs them during the check.
      await turn();
      await proveGrowth(context, growth);
    }
    if (growth.statements.length > 0) await failpoints.reach('sign.inside');
    await failpoints.reach('commit.inside');
    await failpoints.reach('seal.inside');
  });
}

function coveredEntries({ frontier, placed, tree, next, signed }: Growth): SealedBatch | undefined {
  const { log, peaks } = frontier;
  if (log.structure !== 'RFC9162_SHA256') return undefined;
  return sealedBatch({
    entryIds: placed.map(({ row }) => row.entryId),
    firstLeaf: log.leaves,
    leaves: next.leaves,
    signedRoot: signed.seal.signed,
    sizeBefore: log.size,
    peaksBefore: peaks,
    nodes: tree.nodes,
  });
}

function grownFrontier({ frontier, tree, next, signed }: Growth): Frontier {
  const { seal, newPeakReceipts } = signed;
  const standing = new Set(peakIndices(next.size));
  const receipts = [...frontier.peakReceipts, ...newPeakReceipts].filter(([index]) => standing.has(index));
  return {
    ...frontier,
    log: { ...next, sealNumber: seal.sealNumber, sealedSize: seal.size },
    seal,
    peaks: tree.peaks,
    openPage: openPageOf(next.size, [...frontier.openPage, ...tree.nodes]),
    peakReceipts: new Map(receipts),
  };
}

/** A log after a batch. */
export interface GrownLog {
  /** Not yet published. */
  readonly frontier: Frontier;
  /** The batch of an RFC 9162 log. */
  readonly sealed?: SealedBatch | undefined;
  /** The object of its new seal; publishing uses it up. Undefined without a new seal. */
  readonly staged?: StagedSeal;
}

/**
 * Commits and seals a batch in one transaction: signs its statements, assigns strictly rising idtimestamps, stores
 * statements, leaves, nodes and the seal over them, and removes the entries from the intake. The seal is signed before,
 * outside any transaction, and is discarded if the log has changed since the frontier was read; nobody sees a seal that
 * is not stored (docs/design/README.md#one-operation). Resolves with the same frontier if nothing could be committed, or if
 * entries that were coming have not come.
 * @throws {LeaseLost} if this holder no longer holds the log, or does not get it
 * @throws {LogInconsistent} if the new seal does not prove its last leaf
 */
export async function growLog(
  context: LedgerContext,
  memory: SealMemory,
  frontier: Frontier,
  batch: WaitingBatch,
  grower: Grower,
): Promise<GrownLog> {
  const { log } = frontier;
  await context.failpoints.reach('sign.before');
  const signedStatements = await signStatements(context, batch.unsigned);
  await context.failpoints.reach('commit.before');
  const leaves = new Map(batch.leaves);
  for (const statement of signedStatements) leaves.set(statement.eventId, statementLeafEntry(statement));
  const fresh = batch.entries.filter(({ entryId }) => !batch.done.has(entryId));
  const placed = await placeLeaves(context, log, fresh, leaves);
  requireFork(log, placed);
  const committed = new Set(placed.map(({ row }) => row.entryId));
  const taken = [...batch.done, ...committed];
  if (placed.length === 0) {
    if (taken.length > 0) await context.database.commitTogether('system', [deleteIntake(log, taken)]);
    return { frontier };
  }
  const statements = signedStatements.filter(({ eventId }) => committed.has(eventId));
  const growth = { frontier, placed, statements, taken, ...(await signGrowth(context, frontier, placed, grower)) };
  const staged = stageSeal(context, growth.next, growth.signed.seal);
  try {
    if (batch.came) {
      const [cameToWait] = await Promise.all([batch.came, proveGrowth(context, growth)]);
      if (!cameToWait) {
        await staged.discard();
        return { frontier };
      }
    }
    await storeGrowth(context, growth, batch.came !== undefined);
    memory.remember(log, growth.signed.seal.signed, growth.tree.peaks);
    if (statements.length > 0) await context.failpoints.reach('sign.after');
    await context.failpoints.reach('commit.after');
    await context.failpoints.reach('seal.after');
  } catch (error) {
    await staged.discard();
    throw error;
  }
  return { frontier: grownFrontier(growth), sealed: coveredEntries(growth), staged };
}
