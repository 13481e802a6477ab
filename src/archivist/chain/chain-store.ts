import type { Tx } from '../../platform/postgres/database.js';
import type { Block } from './block.js';
import type { PlacedTransaction } from './transaction.js';

/** What a transaction records: `number` is that of the anchor, or of the seal in the tenancy log. */
export type TransactionKind = 'SIMPLE_HASH' | 'MERKLE_LOG';

export interface TransactionSubject {
  readonly tenantId: string;
  readonly kind: TransactionKind;
  readonly number: bigint;
}

interface BlockRow {
  block_number: bigint;
  block_hash: Uint8Array;
  header: Uint8Array;
  next_nonce: bigint;
}

/** The newest block, which the next one extends. */
export interface Head extends Block {
  /** The nonce of the next transaction: one counter for the whole chain, whichever key signs. */
  readonly nextNonce: bigint;
}

const BLOCK = 'block_number, block_hash, header, next_nonce';

function headOf(row: BlockRow): Head {
  return { number: row.block_number, hash: row.block_hash, header: row.header, nextNonce: row.next_nonce };
}

export async function findHead(tx: Tx, chain: string): Promise<Head | undefined> {
  const [row] = await tx.query<BlockRow>(
    `SELECT ${BLOCK} FROM archivist.chain_block WHERE tenant_id = $1 ORDER BY block_number DESC LIMIT 1`,
    [chain],
  );
  return row && headOf(row);
}

export async function findBlockByNumber(tx: Tx, chain: string, number: bigint): Promise<Block | undefined> {
  const [row] = await tx.query<BlockRow>(
    `SELECT ${BLOCK} FROM archivist.chain_block WHERE tenant_id = $1 AND block_number = $2`,
    [chain, number],
  );
  return row && headOf(row);
}

export async function findBlockByHash(tx: Tx, chain: string, hash: Uint8Array): Promise<Block | undefined> {
  const [row] = await tx.query<BlockRow>(
    `SELECT ${BLOCK} FROM archivist.chain_block WHERE tenant_id = $1 AND block_hash = $2`,
    [chain, hash],
  );
  return row && headOf(row);
}

/** Appends a block to the chain; false when its number is taken. */
export async function insertBlock(tx: Tx, chain: string, head: Head): Promise<boolean> {
  const inserted = await tx.execute(
    `INSERT INTO archivist.chain_block (tenant_id, ${BLOCK}) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`,
    [chain, head.number, head.hash, head.header, head.nextNonce],
  );
  return inserted === 1;
}

export async function insertTransactions(
  tx: Tx,
  transactions: readonly (TransactionSubject & Omit<PlacedTransaction, 'blockHash'>)[],
): Promise<void> {
  await tx.execute(
    `INSERT INTO archivist.chain_transaction
       (tenant_id, kind, number, transaction_hash, block_number, transaction_index, sender, signed)
     SELECT * FROM unnest($1::uuid[], $2::text[], $3::bigint[], $4::bytea[], $5::bigint[], $6::integer[], $7::text[], $8::bytea[])`,
    [
      transactions.map((each) => each.tenantId),
      transactions.map((each) => each.kind),
      transactions.map((each) => each.number),
      transactions.map((each) => each.hash),
      transactions.map((each) => each.blockNumber),
      transactions.map((each) => each.transactionIndex),
      transactions.map((each) => each.sender),
      transactions.map((each) => each.signed),
    ],
  );
}

/** The transaction of an anchor or a seal, in its block. */
export async function findTransaction(
  tx: Tx,
  chain: string,
  { tenantId, kind, number }: TransactionSubject,
): Promise<PlacedTransaction | undefined> {
  const [row] = await tx.query<{
    transaction_hash: Uint8Array;
    signed: Uint8Array;
    sender: string;
    block_number: bigint;
    block_hash: Uint8Array;
    transaction_index: number;
  }>(
    `SELECT t.transaction_hash, t.signed, t.sender, t.block_number, b.block_hash, t.transaction_index
       FROM archivist.chain_transaction t
       JOIN archivist.chain_block b ON b.tenant_id = $1 AND b.block_number = t.block_number
      WHERE t.tenant_id = $2 AND t.kind = $3 AND t.number = $4`,
    [chain, tenantId, kind, number],
  );
  return (
    row && {
      hash: row.transaction_hash,
      signed: row.signed,
      sender: row.sender,
      blockNumber: row.block_number,
      blockHash: row.block_hash,
      transactionIndex: row.transaction_index,
    }
  );
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

/** The event whose transaction is looked up. */
interface EventSubject {
  readonly kind: TransactionKind;
  readonly number: bigint;
}

/** The position of an event in the chain. */
export interface EventTransaction extends EventSubject {
  readonly hash: Uint8Array;
  readonly blockNumber: bigint;
  readonly transactionIndex: number;
}

/**
 * Returns the chain transactions of these events of one tenancy, by event id: for an event of a SIMPLE_HASH asset, that
 * of its anchor; for any other event, that of the first published seal that covers it.
 * @param seals the number of that seal
 */
export async function transactionsOfEvents(
  tx: Tx,
  tenantId: string,
  events: readonly { readonly eventId: string; readonly seal: bigint | undefined }[],
): Promise<Map<string, EventTransaction>> {
  if (events.length === 0) return new Map();
  const rows = await tx.query<{
    event_id: string;
    kind: TransactionKind;
    number: bigint;
    transaction_hash: Uint8Array;
    block_number: bigint;
    transaction_index: number;
  }>(
    `SELECT wanted.event_id, t.kind, t.number, t.transaction_hash, t.block_number, t.transaction_index
       FROM unnest($2::uuid[], $3::bigint[]) AS wanted(event_id, seal_number)
       LEFT JOIN archivist.simple_hash_event h ON h.tenant_id = $1 AND h.event_id = wanted.event_id
       JOIN archivist.chain_transaction t ON t.tenant_id = $1
         AND t.kind = CASE WHEN h.event_id IS NULL THEN 'MERKLE_LOG' ELSE 'SIMPLE_HASH' END
         AND t.number = CASE WHEN h.event_id IS NULL THEN wanted.seal_number ELSE h.anchor_number END`,
    [tenantId, events.map((event) => event.eventId), events.map((event) => event.seal ?? null)],
  );
  return new Map(
    rows.map((row) => [
      row.event_id,
      {
        kind: row.kind,
        number: row.number,
        hash: row.transaction_hash,
        blockNumber: row.block_number,
        transactionIndex: row.transaction_index,
      },
    ]),
  );
}
