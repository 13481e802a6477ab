import { keccak_256 } from '@noble/hashes/sha3.js';
import { equalBytes } from '../../core/bytes.js';
import type { Keyring } from '../../platform/keys/keyring.js';
import { jwkAddress } from '../../platform/keys/wallet-address.js';
import { anchorInput } from '../chain/anchor.js';
import { findAnchor } from '../chain/anchor-store.js';
import { headerFields, NO_PARENT } from '../chain/block.js';
import { readChainFork } from '../chain/chain-fork.js';
import { sealInput } from '../chain/extend-chain.js';
import { keptBlock } from '../chain/kept-blocks.js';
import { rlpList } from '../chain/rlp-list.js';
import { transactionSigner } from '../chain/transaction.js';
import { listRoot } from '../chain/trie-root.js';
import { dataOf, hexData, numberOf } from '../quantity.js';
import {
  type BlockRow,
  blockRows,
  looseTransactions,
  type TransactionRow,
  transactionRows,
} from './chain-audit-store.js';
import type { DeploymentAudit } from './deployment-audit.js';

const PAGE = 100;

interface ChainAudit extends DeploymentAudit {
  readonly keyring: Pick<Keyring, 'everyKey'>;
}

/** The part of the chain that has been walked. */
interface Walked {
  readonly number: bigint;
  readonly hash: Uint8Array;
  readonly nonce: bigint;
  /** Whether the object store has it. */
  readonly kept: boolean;
}

/**
 * Recomputes the chain from its transactions: every block's hash, its parent and its transaction root, and what every
 * transaction says about its anchor or seal. A chain key of the deployment must have made each block and signed its
 * transactions. The object store must have each header; only the newest block is stored after it is in the database.
 */
export async function auditChain(audit: ChainAudit): Promise<void> {
  const chain = audit.deployment.deploymentTenancy;
  const miners = new Set(audit.keyring.everyKey(['chain']).map(({ jwk }) => jwkAddress(jwk)?.toLowerCase()));
  let walked: Walked = { number: -1n, hash: NO_PARENT, nonce: 0n, kept: true };
  for (;;) {
    const from = walked.number + 1n;
    const { blocks, transactions } = await audit.database.inTransaction('system', async (tx) => {
      const found = await blockRows(tx, chain, from, PAGE);
      const last = found.at(-1)?.block_number;
      return { blocks: found, transactions: last === undefined ? [] : await transactionRows(tx, from, last) };
    });
    for (const block of blocks) {
      const own = transactions.filter((each) => each.block_number === block.block_number);
      walked = await auditBlock({ ...audit, miners }, walked, block, own);
    }
    if (blocks.length < PAGE) break;
  }
  const loose = await audit.database.inTransaction('system', (tx) => looseTransactions(tx, chain));
  if (loose > 0n) audit.fault('chain', `${loose} transactions are in no block`);
  if (await keptBlock(audit.objectStore, chain, walked.number + 1n)) {
    const [next] = await audit.database.inTransaction('system', (tx) => blockRows(tx, chain, walked.number + 1n, 1));
    if (!next)
      audit.fault(
        'chain',
        `the object store has block ${walked.number + 1n}: the database is older than what was published`,
      );
  }
}

async function auditBlock(
  audit: DeploymentAudit & { readonly miners: ReadonlySet<string | undefined> },
  before: Walked,
  block: BlockRow,
  transactions: readonly TransactionRow[],
): Promise<Walked> {
  const number = block.block_number;
  const fault = (what: string) => audit.fault('chain', `block ${number} ${what}`);
  if (!equalBytes(keccak_256(block.header), block.block_hash)) fault('has a different hash than its header gives');
  const header = fieldsOf(block.header);
  if (!header) fault('has a header that cannot be read');
  else {
    if (BigInt(header.number) !== number) fault('has a different number in its header');
    if (!equalBytes(dataOf(header.parentHash), before.hash)) fault('does not name the block before it as its parent');
    if (!audit.miners.has(header.miner)) fault('was not made with a chain key of this deployment');
    const wrong = await placeFault(audit, before, block, header.miner);
    if (wrong) fault(wrong);
    const root = listRoot(transactions.map(({ signed }) => signed));
    if (!equalBytes(dataOf(header.transactionRoot), root))
      fault('has a transaction root that its transactions do not give');
  }
  const nonce = before.nonce + BigInt(transactions.length);
  if (block.next_nonce !== nonce) fault(`says that ${block.next_nonce} transactions were made, not ${nonce}`);
  for (const [place, each] of transactions.entries()) {
    const wrong = await faultOf(audit, each, {
      place,
      nonce: before.nonce + BigInt(place),
      miner: header?.miner,
    });
    if (wrong) audit.fault('chain', `transaction ${place} of block ${number}: ${wrong}`);
  }
  const keptAs = (other: bigint) => keptBlock(audit.objectStore, audit.deployment.deploymentTenancy, other);
  // It was the newest one when it was looked for, and a block is stored before the next one is made.
  if (!before.kept && !(await keptAs(before.number)))
    audit.fault('chain', `block ${before.number} is not in the object store`);
  const kept = await keptAs(number);
  if (kept && !equalBytes(kept, block.header)) fault('differs from the one in the object store');
  return { number, hash: block.block_hash, nonce, kept: kept !== undefined };
}

/** A block follows the one before it, or continues the chain openly after blocks that were lost. */
async function placeFault(
  { deployment, objectStore }: DeploymentAudit,
  before: Walked,
  { block_number: number, header }: BlockRow,
  miner: string,
): Promise<string | undefined> {
  const fork = forkOf(number, header);
  if (fork === 'unreadable') return 'has extra data that is not a signed fork';
  if (!fork) return number === before.number + 1n ? undefined : `follows block ${before.number}`;
  if (fork.signer.toLowerCase() !== miner) return 'has a fork that was not signed by the key that made the block';
  if (number !== fork.lastNumber + 1n || fork.lastNumber <= before.number)
    return `forks the chain after block ${fork.lastNumber}, and follows block ${before.number}`;
  const last = await keptBlock(objectStore, deployment.deploymentTenancy, fork.lastNumber);
  if (!last) return `names block ${fork.lastNumber}, which is not in the object store`;
  return equalBytes(keccak_256(last), fork.lastHash)
    ? undefined
    : `names a different block ${fork.lastNumber} than the one in the object store`;
}

function forkOf(number: bigint, header: Uint8Array) {
  try {
    return readChainFork({ number, header });
  } catch {
    return 'unreadable';
  }
}

function fieldsOf(header: Uint8Array) {
  try {
    return headerFields(header);
  } catch {
    return undefined;
  }
}

async function faultOf(
  audit: DeploymentAudit,
  row: TransactionRow,
  at: { readonly place: number; readonly nonce: bigint; readonly miner: string | undefined },
): Promise<string | undefined> {
  if (row.transaction_index !== at.place) return 'its stored index is wrong';
  if (!equalBytes(keccak_256(row.signed), row.transaction_hash)) return 'its stored hash is wrong';
  const [nonce, , , to, , input] = rlpList(row.signed);
  if (!nonce || !to || !input) return 'it cannot be read';
  if (numberOf(nonce) !== at.nonce) return 'its nonce does not follow the one before';
  // Of an unreadable header, which is a fault of its own, nothing is known.
  if (at.miner !== undefined && row.sender.toLowerCase() !== at.miner)
    return 'its sender is not the key that made the block';
  if (transactionSigner(row.signed) !== row.sender) return 'it is not signed by its sender';
  if (row.wallet_address?.toLowerCase() !== hexData(to)) return 'it is addressed to another tenancy than its own';
  const said = await inputOf(audit, row);
  return said && equalBytes(said, input) ? undefined : `its data differs from its ${row.kind}`;
}

async function inputOf({ database }: DeploymentAudit, row: TransactionRow): Promise<Uint8Array | undefined> {
  const { tenant_id: tenantId, number } = row;
  if (row.kind === 'SIMPLE_HASH') {
    const anchor = await database.inTransaction('system', (tx) => findAnchor(tx, tenantId, number));
    return anchor && anchorInput(anchor);
  }
  if (row.seal_size === null || row.seal_root === null) return undefined;
  return sealInput({ tenantId, number, size: row.seal_size, root: row.seal_root });
}
