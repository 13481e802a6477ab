import { concatBytes, fromHex, utf8 } from '../../core/bytes.js';
import type { ChainKey } from '../../platform/keys/chain-key.js';
import type { Database } from '../../platform/postgres/database.js';
import type { Deployment } from '../deployment.js';
import { dataOf } from '../quantity.js';
import { blockOf, NO_PARENT } from './block.js';
import { appendBlock, findHead } from './chain-store.js';

/**
 * Creates the first block of the deployment's chain if it has none. It names the deployment and has no transactions.
 */
export async function beginChain(deps: {
  readonly database: Database;
  readonly deployment: Deployment;
  readonly key: ChainKey;
  readonly clock: { now(): number };
}): Promise<void> {
  const { deploymentTenancy: chain } = deps.deployment;
  await deps.database.inTransaction({ read: [chain], write: [chain] }, async (tx) => {
    if (await findHead(tx, chain)) return;
    const block = blockOf({
      number: 0n,
      parentHash: NO_PARENT,
      miner: dataOf(deps.key.address),
      transactions: [],
      timestamp: BigInt(Math.floor(deps.clock.now() / 1000)),
      extraData: concatBytes(utf8('vcon-archivist'), fromHex(chain.replaceAll('-', ''))),
    });
    await appendBlock(tx, chain, undefined, { ...block, nextNonce: 0n });
  });
}
