import { equalBytes } from '../core/bytes.js';
import { indexHeight } from '../core/mmr/index-height.js';
import { sizeOfLeaves } from '../core/mmr/leaf-count.js';
import type { Tx } from '../platform/postgres/database.js';
import { type GrownTree, growTree } from './grown-tree.js';
import { type LeafRow, leafRange } from './leaf-store.js';
import type { LedgerContext } from './ledger-context.js';
import type { LogState } from './log.js';
import { LogInconsistent } from './log-inconsistent.js';
import { readNodeRange } from './node-page-store.js';
import type { SealMemory } from './seal-memory.js';
import type { SealRow } from './seal-store.js';
import { sealedState } from './sealed-peaks.js';

/** A state that waits for its seal, rebuilt from stored data and checked to extend the last seal. */
interface UnsealedState {
  readonly lastSeal: SealRow | undefined;
  readonly tree: GrownTree;
  readonly lastLeaf: LeafRow;
}

/**
 * Rebuilds the log's state from the peaks that the last seal signed and the leaves stored since, and compares every
 * node with its page. The result extends the last seal, and a flipped bit in a new node is found before signing.
 * @throws {LogInconsistent}
 */
export async function unsealedState(
  tx: Tx,
  context: LedgerContext,
  memory: SealMemory,
  log: LogState,
): Promise<UnsealedState> {
  if (sizeOfLeaves(log.leaves) !== log.size)
    throw new LogInconsistent(`a log of ${log.leaves} leaves does not have ${log.size} nodes`);
  const sealed = await sealedState(tx, context, memory, log);
  const nodes = await readNodeRange(tx, log, log.sealedSize, log.size);
  const leaves = nodes.filter((_, offset) => indexHeight(log.sealedSize + BigInt(offset)) === 0);
  const tree = growTree(log, sealed.peaks, leaves);
  if (tree.size !== log.size || !tree.nodes.every((node, offset) => equalBytes(node, nodes[offset]!)))
    throw new LogInconsistent(`the nodes stored since seal ${log.sealNumber} do not hash up`);
  const [lastLeaf] = await leafRange(tx, log, log.leaves - 1n, log.leaves);
  if (lastLeaf?.idtimestamp !== log.lastIdtimestamp)
    throw new LogInconsistent(`leaf ${log.leaves - 1n} is not the last one that the log gave a time`);
  return { lastSeal: sealed.seal, tree, lastLeaf };
}
