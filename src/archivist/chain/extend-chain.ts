import { RLP } from '@ethereumjs/rlp';
import { walletAddresses } from '../../iam/tenancies/tenancy-store.js';
import type { Failpoints } from '../../ledger/failpoints.js';
import type { Clock } from '../../platform/clock.js';
import type { Keyring } from '../../platform/keys/keyring.js';
import type { ObjectStore } from '../../platform/object-store.js';
import type { Database, Tx } from '../../platform/postgres/database.js';
import type { Deployment } from '../deployment.js';
import { anchorInput } from './anchor.js';
import { anchorsWithoutTransaction } from './anchor-store.js';
import { blockOf, headerFields } from './block.js';
import {
  findHead,
  type Head,
  insertBlock,
  insertTransactions,
  type PublishedSeal,
  sealsWithoutTransaction,
  type TransactionSubject,
} from './chain-store.js';
import { isBlockKept, keepBlock } from './kept-blocks.js';
import { dataOf } from './quantity.js';
import { signTransaction } from './transaction.js';

/** Signing holds up everything else that the process does. */
const MOST_TRANSACTIONS = 25;

export interface ChainDeps {
  readonly database: Database;
  readonly objectStore: ObjectStore;
  readonly deployment: Deployment;
  readonly keyring: Pick<Keyring, 'chain'>;
  readonly clock: Clock;
  readonly failpoints: Failpoints;
}

/** What has no transaction yet, with all that its transaction will say. */
interface Waiting extends TransactionSubject {
  readonly to: string;
  readonly input: Uint8Array;
}

/**
 * Writes every anchor and every published seal of a tenancy log that the chain does not have yet into new blocks, one
 * transaction each. Two processes may do so at once: a block is stored with its transactions or not at all, and only the
 * first one upon its parent is. Resolves with how many transactions were written.
 * @throws {Error} when the chain has no first block, or the object store has seen another chain than the database holds
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

/** A block after the head is kept: another process has put it there just now, or the database is older than its chain. */
async function requireNewest({ database, deployment, objectStore }: ChainDeps, head: Head): Promise<void> {
  const chain = deployment.deploymentTenancy;
  if (!(await isBlockKept(objectStore, chain, head.number + 1n))) return;
  const now = await database.inTransaction('system', (tx) => findHead(tx, chain));
  if (now?.number === head.number)
    throw new Error(`the database is older than block ${head.number + 1n}, which is kept: the chain is not extended`);
}

/** The head first: what is read after it can only be in a block above it, and then the head has moved on. */
async function readWaiting(tx: Tx, deployment: Deployment): Promise<{ head: Head; waiting: Waiting[] }> {
  const head = await findHead(tx, deployment.deploymentTenancy);
  if (!head) throw new Error('the chain has no first block');
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

/** What a seal's transaction says: RLP of kind, log, number of the seal, size of the log and its bagged root. */
export function sealInput(seal: PublishedSeal): Uint8Array {
  return RLP.encode(['MERKLE_LOG', seal.tenantId, seal.number, seal.size, seal.root]);
}

async function putBlock(deps: ChainDeps, head: Head, waiting: readonly Waiting[]): Promise<boolean> {
  const { clock, database, deployment, failpoints } = deps;
  const key = deps.keyring.chain;
  const parent = headerFields(head.header);
  const signed = await Promise.all(
    waiting.map(({ to, input }, place) => signTransaction({ nonce: head.nextNonce + BigInt(place), to, input }, key)),
  );
  const now = BigInt(Math.floor(clock.now() / 1000));
  const block = blockOf({
    number: head.number + 1n,
    parentHash: head.hash,
    miner: dataOf(key.address),
    transactions: signed.map((each) => each.signed),
    // A clock that stepped back gives no block an earlier time than its parent has.
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
  return database.inTransaction('system', async (tx) => {
    if (!(await insertBlock(tx, deployment.deploymentTenancy, { ...block, nextNonce }))) return false;
    await insertTransactions(tx, transactions);
    await failpoints.reach('chain.inside');
    return true;
  });
}
