import { keccak_256 } from '@noble/hashes/sha3.js';
import { equalBytes } from '../../core/bytes.js';
import type { Finding } from '../../ledger/halted/explain-log.js';
import { ApiError } from '../../platform/errors.js';
import { lastNumber } from '../../platform/last-number.js';
import type { Logger } from '../../platform/logger.js';
import { dataOf } from '../quantity.js';
import { blockOf, headerFields } from './block.js';
import { signChainFork } from './chain-fork.js';
import { appendBlock, findHead, type Head } from './chain-store.js';
import { type ChainDeps, isKeysLogHalted } from './extend-chain.js';
import { isBlockKept, keepBlock, keptBlock } from './kept-blocks.js';

export type ForkChainDeps = Omit<ChainDeps, 'failpoints'> & { readonly logger: Logger };

/** What a person types to fork the chain. */
const CHAIN_NAME = 'chain';

/** The chain in the database beside the chain in the object store. */
interface ExplainedChain {
  readonly finding: Exclude<Finding, 'objects_older'> | 'keys_log_halted';
  /** The newest block in the database. */
  readonly head: Head;
  /** The newest block in the object store; that of the database if the store has no later one. */
  readonly last: { readonly number: bigint; readonly hash: Uint8Array };
}

/**
 * Compares the newest block of the database with the object store's. Changes nothing.
 * @throws {ApiError} not_found if the chain has no block yet
 */
export async function explainChain({
  database,
  deployment,
  objectStore,
}: Pick<ForkChainDeps, 'database' | 'deployment' | 'objectStore'>): Promise<ExplainedChain> {
  const chain = deployment.deploymentTenancy;
  const [head, isHalted] = await database.inTransaction('system', async (tx) => [
    await findHead(tx, chain),
    await isKeysLogHalted(tx, deployment),
  ]);
  if (!head) throw new ApiError('not_found', 'The chain has no block yet.');
  const same = await keptBlock(objectStore, chain, head.number);
  if (same && !equalBytes(same, head.header))
    return { finding: 'objects_differ', head, last: { number: head.number, hash: keccak_256(same) } };
  const number = await lastNumber((each) => isBlockKept(objectStore, chain, each), head.number);
  const kept = number === head.number ? undefined : await keptBlock(objectStore, chain, number);
  if (!kept) return { finding: isHalted ? 'keys_log_halted' : 'consistent', head, last: head };
  return { finding: 'database_older', head, last: { number, hash: keccak_256(kept) } };
}

/**
 * Continues the chain openly after its newest blocks were lost with the database. The next block has the number after the
 * last one in the object store, so that no number ever names two blocks; its parent is the newest block of this database;
 * it has no transactions, and says, signed, which block was the last one and why it was lost. The object store has it
 * first, create-only: after a crash, the next fork names that block as the last one.
 * @throws {ApiError} bad_request if the confirmation is not `chain`; conflict if the database is not older than the object
 * store, or another process added a block meanwhile
 */
export async function forkChain(
  deps: ForkChainDeps,
  { confirm, reason }: { readonly confirm: string; readonly reason: string },
): Promise<ExplainedChain> {
  const { clock, database, deployment, keyring, logger, objectStore } = deps;
  if (confirm !== CHAIN_NAME) throw new ApiError('bad_request', `confirm: type "${CHAIN_NAME}".`);
  if (reason.trim() === '') throw new ApiError('bad_request', 'reason: say why the newer database is lost.');
  const { finding, head, last } = await explainChain(deps);
  if (finding !== 'database_older')
    throw new ApiError(
      'conflict',
      'The database is not older than the blocks in the object store: a fork of the chain would not help. See docs/operate/halted-log.md.',
    );
  const now = BigInt(Math.floor(clock.now() / 1000));
  const before = BigInt(headerFields(head.header).timestamp);
  const block = blockOf({
    number: last.number + 1n,
    parentHash: head.hash,
    miner: dataOf(keyring.chain.address),
    transactions: [],
    timestamp: now > before ? now : before,
    extraData: await signChainFork({ lastNumber: last.number, lastHash: last.hash, reason }, head.hash, keyring.chain),
  });
  const chain = deployment.deploymentTenancy;
  await keepBlock(objectStore, chain, block);
  await database.inTransaction('system', async (tx) => {
    if (!(await appendBlock(tx, chain, head, { ...block, nextNonce: head.nextNonce })))
      throw new ApiError(
        'conflict',
        'The chain has changed since the request began. Run "vcon-archivist logs" before you try again.',
      );
  });
  logger.warn(
    { block: block.number.toString(), lost: (last.number - head.number).toString(), reason },
    'the operator has forked the chain openly',
  );
  return explainChain(deps);
}
