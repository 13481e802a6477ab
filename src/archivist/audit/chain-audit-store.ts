import type { Tx } from '../../platform/postgres/database.js';
import type { TransactionKind } from '../chain/chain-store.js';

/** A block as it is stored. */
export interface BlockRow {
  readonly block_number: bigint;
  readonly block_hash: Uint8Array;
  readonly header: Uint8Array;
  readonly next_nonce: bigint;
}

export async function blockRows(tx: Tx, chain: string, from: bigint, limit: number): Promise<BlockRow[]> {
  return tx.query<BlockRow>(
    `SELECT block_number, block_hash, header, next_nonce FROM archivist.chain_block
      WHERE tenant_id = $1 AND block_number >= $2 ORDER BY block_number LIMIT $3`,
    [chain, from, limit],
  );
}

/** A transaction with its anchor or seal; null columns mean that it does not exist. */
export interface TransactionRow {
  readonly tenant_id: string;
  readonly kind: TransactionKind;
  readonly number: bigint;
  readonly transaction_hash: Uint8Array;
  readonly block_number: bigint;
  readonly transaction_index: number;
  readonly sender: string;
  readonly signed: Uint8Array;
  readonly wallet_address: string | null;
  readonly seal_size: bigint | null;
  readonly seal_root: Uint8Array | null;
}

/** Transactions of these blocks, in their order. */
export async function transactionRows(tx: Tx, from: bigint, to: bigint): Promise<TransactionRow[]> {
  return tx.query<TransactionRow>(
    `SELECT t.tenant_id, t.kind, t.number, t.transaction_hash, t.block_number, t.transaction_index, t.sender, t.signed,
            own.wallet_address, s.size AS seal_size, s.root AS seal_root
       FROM archivist.chain_transaction t
       LEFT JOIN archivist.tenancy own ON own.tenant_id = t.tenant_id
       LEFT JOIN archivist.seal s ON t.kind = 'MERKLE_LOG' AND s.tenant_id = t.tenant_id AND s.log_id = t.tenant_id
        AND s.seal_number = t.number
      WHERE t.block_number >= $1 AND t.block_number <= $2 ORDER BY t.block_number, t.transaction_index`,
    [from, to],
  );
}

/** Transactions that are in no block of the chain. */
export async function looseTransactions(tx: Tx, chain: string): Promise<bigint> {
  const [row] = await tx.query<{ loose: bigint }>(
    `SELECT count(*) AS loose FROM archivist.chain_transaction t WHERE NOT EXISTS
       (SELECT FROM archivist.chain_block b WHERE b.tenant_id = $1 AND b.block_number = t.block_number)`,
    [chain],
  );
  return row!.loose;
}
