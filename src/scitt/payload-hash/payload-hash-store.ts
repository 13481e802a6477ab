import { selected, table } from '../../platform/postgres/columns.js';
import type { Tx } from '../../platform/postgres/database.js';
import { insertRows } from '../../platform/postgres/insert-rows.js';

const LOG = table('payload_hash_log').columns<{ readonly tenantId: string; readonly logId: string }>({
  tenantId: 'tenant_id',
  logId: 'log_id',
});

/** The log of the profile; undefined before it was first enabled. */
export async function findPayloadHashLog(tx: Tx, tenantId: string): Promise<string | undefined> {
  const [row] = await tx.query<{ logId: string }>(
    `SELECT ${selected(LOG, 'l', ['logId'])} FROM archivist.payload_hash_log l WHERE l.tenant_id = $1`,
    [tenantId],
  );
  return row?.logId;
}

/** Makes this the log of the profile; false when there is one already. */
export async function insertPayloadHashLog(tx: Tx, tenantId: string, logId: string): Promise<boolean> {
  return (await insertRows(tx, LOG, [{ tenantId, logId }], 'ON CONFLICT DO NOTHING')) === 1;
}

interface PayloadHashRegistration {
  readonly tenantId: string;
  readonly statementHash: Uint8Array;
  readonly entryId: string;
  readonly submitted: Uint8Array;
  readonly registeredAt: Date;
}

const REGISTRATION = table('payload_hash_registration').columns<PayloadHashRegistration>({
  tenantId: 'tenant_id',
  statementHash: 'statement_hash',
  entryId: 'entry_id',
  submitted: 'submitted',
  registeredAt: 'registered_at',
});

/** Claims a statement for its entry; false when it is already registered, also by a concurrent transaction. */
export async function takePayloadHashRegistration(tx: Tx, registration: PayloadHashRegistration): Promise<boolean> {
  return (await insertRows(tx, REGISTRATION, [registration], 'ON CONFLICT DO NOTHING')) === 1;
}

/** The entry of a registered statement. */
export async function findPayloadHashEntry(
  tx: Tx,
  tenantId: string,
  statementHash: Uint8Array,
): Promise<string | undefined> {
  const [row] = await tx.query<{ entryId: string }>(
    `SELECT ${selected(REGISTRATION, 'r', ['entryId'])} FROM archivist.payload_hash_registration r
      WHERE r.tenant_id = $1 AND r.statement_hash = $2`,
    [tenantId, statementHash],
  );
  return row?.entryId;
}

export async function hasPayloadHashEntry(tx: Tx, tenantId: string, entryId: string): Promise<boolean> {
  const rows = await tx.query(
    'SELECT FROM archivist.payload_hash_registration WHERE tenant_id = $1 AND entry_id = $2',
    [tenantId, entryId],
  );
  return rows.length > 0;
}
