import type { Tx } from '../../platform/postgres/database.js';

/** The log of the profile; undefined before it was first enabled. */
export async function findPayloadHashLog(tx: Tx, tenantId: string): Promise<string | undefined> {
  const [row] = await tx.query<{ log_id: string }>(
    'SELECT log_id FROM archivist.payload_hash_log WHERE tenant_id = $1',
    [tenantId],
  );
  return row?.log_id;
}

/** Makes this the log of the profile; false when there is one already. */
export async function insertPayloadHashLog(tx: Tx, tenantId: string, logId: string): Promise<boolean> {
  const touched = await tx.execute(
    'INSERT INTO archivist.payload_hash_log (tenant_id, log_id) VALUES ($1, $2) ON CONFLICT DO NOTHING',
    [tenantId, logId],
  );
  return touched === 1;
}

interface PayloadHashRegistration {
  readonly tenantId: string;
  readonly statementHash: Uint8Array;
  readonly entryId: string;
  readonly submitted: Uint8Array;
  readonly registeredAt: Date;
}

/** Claims a statement for its entry; false when it is already registered, also by a concurrent transaction. */
export async function takePayloadHashRegistration(tx: Tx, registration: PayloadHashRegistration): Promise<boolean> {
  const touched = await tx.execute(
    `INSERT INTO archivist.payload_hash_registration (tenant_id, statement_hash, entry_id, submitted, registered_at)
     VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`,
    [
      registration.tenantId,
      registration.statementHash,
      registration.entryId,
      registration.submitted,
      registration.registeredAt,
    ],
  );
  return touched === 1;
}

/** The entry of a registered statement. */
export async function findPayloadHashEntry(
  tx: Tx,
  tenantId: string,
  statementHash: Uint8Array,
): Promise<string | undefined> {
  const [row] = await tx.query<{ entry_id: string }>(
    'SELECT entry_id FROM archivist.payload_hash_registration WHERE tenant_id = $1 AND statement_hash = $2',
    [tenantId, statementHash],
  );
  return row?.entry_id;
}

export async function hasPayloadHashEntry(tx: Tx, tenantId: string, entryId: string): Promise<boolean> {
  const rows = await tx.query(
    'SELECT FROM archivist.payload_hash_registration WHERE tenant_id = $1 AND entry_id = $2',
    [tenantId, entryId],
  );
  return rows.length > 0;
}
