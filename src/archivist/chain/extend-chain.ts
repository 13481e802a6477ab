import { setImmediate as nextTurn } from 'node:timers/promises';
import { RLP } from '@ethereumjs/rlp';
import { walletAddresses } from '../../iam/tenancies/tenancy-store.js';
import type { Failpoints } from '../../ledger/failpoints.js';
import { findLog } from '../../ledger/log-store.js';
import type { Clock } from '../../platform/clock.js';
import type { Keyring } from '../../platform/keys/keyring.js';
import type { ObjectStore } from '../../platform/object-store.js';
import type { Database, Tx } from '../../platform/postgres/database.js';
import { type Deployment, keysLog } from '../deployment.js';
import { dataOf } from '../quantity.js';
import { anchorInput } from './anchor.js';
import { anchorsWithoutTransaction } from './anchor-store.js';
import { blockOf, headerFields } from './block.js';
import {
  appendBlock,
  findHead,
  type Head,
  insertTransactions,
  type PublishedSeal,
  sealsWithoutTransaction,
  type TransactionSubject,
} from './chain-store.js';
import { isBlockKept, keepBlock } from './kept-blocks.js';
import { type SignedTransaction, signTransaction } from './transaction.js';

/** Of one block at most: if another process adds a block meanwhile, these signatures are discarded. */
const MOST_TRANSACTIONS = 25;

export interface ChainDeps {
  readonly database: Database;
  readonly objectStore: ObjectStore;
  readonly deployment: Deployment;
  readonly keyring: Pick<Keyring, 'chain'>;
  readonly clock: Clock;
  readonly failpoints: Failpoints;
}

/** An anchor or seal without a transaction, with everything that its transaction will say. */
interface Waiting extends TransactionSubject {
  readonly to: string;
  readonly input: Uint8Array;
}

/**
 * Writes every anchor and every published seal of a tenancy log that is not in the chain yet into new blocks, one
 * transaction each.
 * Two processes may run this concurrently: a block is stored with all its transactions or not at all, and only the
 * first block on a parent is accepted. A block is readable from its commit, and the object store has it directly after
 * that; if that fails, or the process ends between, the next pass begins with it. Nothing is written while the keys log is
 * halted. Resolves with the number of transactions written.
 * @throws {Error} when the chain has no first block, or the object store holds a different chain than the database
 */
export async function extendChain(deps: ChainDeps, stopping: () => boolean): Promise<number> {
  let written = 0;
  while (!stopping()) {
    const { head, waiting } = await deps.database.inTransaction('system', (tx) => readWaiting(tx, deps.deployment));
    await keepBlock(deps.objectStore, deps.deployment.deploymentTenancy, head);
    if (waiting.length === 0) break;
    await requireNewest(deps, head);
    if (await putBlock(deps, head, waiting)) written += waiting.length;
  }
  return written;
}

/**
 * If the object store has a block after the head, either another process has just added it, or the database is older
 * than its chain.
 */
async function requireNewest({ database, deployment, objectStore }: ChainDeps, head: Head): Promise<void> {
  const chain = deployment.deploymentTenancy;
  if (!(await isBlockKept(objectStore, chain, head.number + 1n))) return;
  const now = await database.inTransaction('system', (tx) => findHead(tx, chain));
  if (now?.number === head.number)
    throw new Error(
      `the database is older than block ${head.number + 1n} in the object store: the chain is not extended. See "vcon-archivist logs"`,
    );
}

/**
 * Whether the keys log is halted. Then this database may be older than blocks that were published, also where no object
 * store shows them: a restore that cannot know what was lost halts every log.
 */
export async function isKeysLogHalted(tx: Tx, deployment: Deployment): Promise<boolean> {
  const log = await findLog(tx, keysLog(deployment));
  return log !== undefined && log.halted !== null;
}

/**
 * Reads the head first: if another process adds a block in the meantime, the head no longer matches and inserting
 * fails.
 */
async function readWaiting(tx: Tx, deployment: Deployment): Promise<{ head: Head; waiting: Waiting[] }> {
  const head = await findHead(tx, deployment.deploymentTenancy);
  if (!head) throw new Error('the chain has no first block');
  if (await isKeysLogHalted(tx, deployment)) return { head, waiting: [] };
  const anchors = await anchorsWithoutTransaction(tx, MOST_TRANSACTIONS);
  const seals = await sealsWithoutTransaction(tx, MOST_TRANSACTIONS - anchors.length);
  const subjects = [
    ...anchors.map((anchor) => ({ ...anchor, kind: 'SIMPLE_HASH' as const, input: anchorInput(anchor) })),
    ...seals.map((seal) => ({ ...seal, kind: 'MERKLE_LOG' as const, input: sealInput(seal) })),
  ];
  const wallets = await walletAddresses(tx, [...new Set(subjects.map(({ tenantId }) => tenantId))]);
  const waiting = subjects.map(({ tenantId, kind, number, input }) => ({
    tenantId,
    kind,
    number,
    input,
    to: wallets.get(tenantId)!,
  }));
  return { head, waiting };
}

/** The input of a seal's transaction: RLP of kind, log, number of the seal, size of the log and its bagged root. */
export function sealInput(seal: PublishedSeal): Uint8Array {
  return RLP.encode(['MERKLE_LOG', seal.tenantId, seal.number, seal.size, seal.root]);
}

async function putBlock(deps: ChainDeps, head: Head, waiting: readonly Waiting[]): Promise<boolean> {
  const { clock, database, deployment, failpoints } = deps;
  const key = deps.keyring.chain;
  const parent = headerFields(head.header);
  const signed: SignedTransaction[] = [];
  for (const [place, { to, input }] of waiting.entries()) {
    signed.push(await signTransaction({ nonce: head.nextNonce + BigInt(place), to, input }, key));
    // Requests are served between two signatures, each of which takes about a millisecond.
    await nextTurn();
  }
  const now = BigInt(Math.floor(clock.now() / 1000));
  const block = blockOf({
    number: head.number + 1n,
    parentHash: head.hash,
    miner: dataOf(key.address),
    transactions: signed.map((each) => each.signed),
    // If the clock stepped back, a block still gets no earlier time than its parent.
    timestamp: now > BigInt(parent.timestamp) ? now : BigInt(parent.timestamp),
    extraData: new Uint8Array(),
  });
  const transactions = waiting.map((subject, place) => ({
    ...subject,
    ...signed[place]!,
    sender: key.address,
    blockNumber: block.number,
    transactionIndex: place,
  }));
  await failpoints.reach('chain.signed');
  const nextNonce = head.nextNonce + BigInt(waiting.length);
  const isAdded = await database.inTransaction('system', async (tx) => {
    if (!(await appendBlock(tx, deployment.deploymentTenancy, head, { ...block, nextNonce }))) return false;
    await insertTransactions(tx, transactions);
    await failpoints.reach('chain.inside');
    return true;
  });
  if (!isAdded) return false;
  await failpoints.reach('chain.committed');
  // Not left to the next pass, which may be on a database that was restored from before this block.
  await keepBlock(deps.objectStore, deployment.deploymentTenancy, block);
  return true;
}
