import { selected, table } from '../../platform/postgres/columns.js';
import type { Tx } from '../../platform/postgres/database.js';
import type { ProofMechanism } from '../assets/asset.js';

/** The position of an event in the chain. `number` is that of its anchor, or of the seal in the tenancy log. */
export interface EventTransaction {
  readonly kind: ProofMechanism;
  readonly number: bigint;
  readonly hash: Uint8Array;
  readonly blockNumber: bigint;
  readonly transactionIndex: number;
}

const TRANSACTION = table('chain_transaction').columns<EventTransaction>({
  kind: 'kind',
  number: 'number',
  hash: 'transaction_hash',
  blockNumber: 'block_number',
  transactionIndex: 'transaction_index',
});

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
  const rows = await tx.query<EventTransaction & { readonly eventId: string }>(
    `SELECT wanted.event_id AS "eventId", ${selected(TRANSACTION, 't')}
       FROM unnest($2::uuid[], $3::bigint[]) AS wanted(event_id, seal_number)
       LEFT JOIN archivist.simple_hash_event h ON h.tenant_id = $1 AND h.event_id = wanted.event_id
       JOIN archivist.chain_transaction t ON t.tenant_id = $1
         AND t.kind = CASE WHEN h.event_id IS NULL THEN 'MERKLE_LOG' ELSE 'SIMPLE_HASH' END
         AND t.number = CASE WHEN h.event_id IS NULL THEN wanted.seal_number ELSE h.anchor_number END`,
    [tenantId, events.map((event) => event.eventId), events.map((event) => event.seal ?? null)],
  );
  return new Map(rows.map(({ eventId, ...transaction }) => [eventId, transaction]));
}
