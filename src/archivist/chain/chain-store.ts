import { equalBytes } from '../../core/bytes.js';
import { selected, table } from '../../platform/postgres/columns.js';
import type { Tx } from '../../platform/postgres/database.js';
import { insertRows } from '../../platform/postgres/insert-rows.js';
import type { Block } from './block.js';
import type { PlacedTransaction } from './transaction.js';

/** What a transaction records: `number` is that of the anchor, or of the seal in the tenancy log. */
export type TransactionKind = 'SIMPLE_HASH' | 'MERKLE_LOG';

export interface TransactionSubject {
  readonly tenantId: string;
  readonly kind: TransactionKind;
  readonly number: bigint;
}

/** The newest block, which the next one extends. */
export interface Head extends Block {
  /** The nonce of the next transaction: one counter for the whole chain, whichever key signs. */
  readonly nextNonce: bigint;
}

const HEAD = table('chain_block').columns<Head & { readonly chain: string }>({
  chain: 'tenant_id',
  number: 'block_number',
  hash: 'block_hash',
  header: 'header',
  nextNonce: 'next_nonce',
});
const BLOCK = selected(HEAD, 'b', ['number', 'hash', 'header', 'nextNonce']);

type StoredTransaction = TransactionSubject & Omit<PlacedTransaction, 'blockHash'>;

const TRANSACTION = table('chain_transaction').columns<StoredTransaction>({
  tenantId: 'tenant_id',
  kind: 'kind',
  number: 'number',
  hash: 'transaction_hash',
  blockNumber: 'block_number',
  transactionIndex: 'transaction_index',
  sender: 'sender',
  signed: 'signed',
});

export async function findHead(tx: Tx, chain: string): Promise<Head | undefined> {
  const [row] = await tx.query<Head>(
    `SELECT ${BLOCK} FROM archivist.chain_block b WHERE tenant_id = $1 ORDER BY block_number DESC LIMIT 1`,
    [chain],
  );
  return row;
}

export async function findBlockByNumber(tx: Tx, chain: string, number: bigint): Promise<Block | undefined> {
  const [row] = await tx.query<Head>(
    `SELECT ${BLOCK} FROM archivist.chain_block b WHERE tenant_id = $1 AND block_number = $2`,
    [chain, number],
  );
  return row;
}

/** The first block after one of the numbers that the database does not have; undefined after the newest block. */
export async function findBlockAfter(tx: Tx, chain: string, number: bigint): Promise<Block | undefined> {
  const [row] = await tx.query<Head>(
    `SELECT ${BLOCK} FROM archivist.chain_block b WHERE tenant_id = $1 AND block_number > $2 ORDER BY block_number LIMIT 1`,
    [chain, number],
  );
  return row;
}

export async function findBlockByHash(tx: Tx, chain: string, hash: Uint8Array): Promise<Block | undefined> {
  const [row] = await tx.query<Head>(
    `SELECT ${BLOCK} FROM archivist.chain_block b WHERE tenant_id = $1 AND block_hash = $2`,
    [chain, hash],
  );
  return row;
}

/** An arbitrary number, the same for every process that adds a block. */
const BLOCK_LOCK = 7_364_923;

/**
 * Adds a block upon its parent, which no transaction can do beside another: the lock ends with the transaction. Returns
 * false, and adds nothing, if the parent is not the newest block any more. An open fork and a block that was begun before it
 * have different numbers and one parent, so the primary key alone would let both in.
 * @param parent undefined for the first block
 */
export async function appendBlock(tx: Tx, chain: string, parent: Block | undefined, block: Head): Promise<boolean> {
  await tx.query('SELECT pg_advisory_xact_lock($1)', [BLOCK_LOCK]);
  const head = await findHead(tx, chain);
  const isNewest = head && parent ? equalBytes(head.hash, parent.hash) : head === parent;
  if (isNewest) await insertRows(tx, HEAD, [{ ...block, chain }]);
  return isNewest;
}

export async function insertTransactions(tx: Tx, transactions: readonly StoredTransaction[]): Promise<void> {
  await insertRows(tx, TRANSACTION, transactions);
}

/** The transaction of an anchor or a seal, in its block. */
export async function findTransaction(
  tx: Tx,
  chain: string,
  { tenantId, kind, number }: TransactionSubject,
): Promise<PlacedTransaction | undefined> {
  const [transaction] = await tx.query<PlacedTransaction>(
    `SELECT ${selected(TRANSACTION, 't', ['hash', 'signed', 'sender', 'blockNumber', 'transactionIndex'])},
            b.block_hash AS "blockHash"
       FROM archivist.chain_transaction t
       JOIN archivist.chain_block b ON b.tenant_id = $1 AND b.block_number = t.block_number
      WHERE t.tenant_id = $2 AND t.kind = $3 AND t.number = $4`,
    [chain, tenantId, kind, number],
  );
  return transaction;
}

/** A published seal of a tenancy log. */
export interface PublishedSeal {
  readonly tenantId: string;
  readonly number: bigint;
  readonly size: bigint;
  readonly root: Uint8Array;
}

/** Published seals of tenancy logs that have no transaction yet, oldest first within a log. */
export async function sealsWithoutTransaction(tx: Tx, limit: number): Promise<PublishedSeal[]> {
  const rows = await tx.query<{ tenant_id: string; seal_number: bigint; size: bigint; root: Uint8Array }>(
    `SELECT s.tenant_id, s.seal_number, s.size, s.root FROM archivist.log g JOIN LATERAL
       (SELECT * FROM archivist.seal n WHERE n.tenant_id = g.tenant_id AND n.log_id = g.log_id AND n.seal_number >
          coalesce((SELECT max(t.number) FROM archivist.chain_transaction t
                     WHERE t.tenant_id = g.tenant_id AND t.kind = 'MERKLE_LOG'), 0)
          AND n.seal_number <= g.published_number
        ORDER BY n.seal_number LIMIT ${limit}) s ON true
      WHERE g.log_id = g.tenant_id
      ORDER BY s.tenant_id, s.seal_number LIMIT ${limit}`,
  );
  return rows.map((row) => ({ tenantId: row.tenant_id, number: row.seal_number, size: row.size, root: row.root }));
}
