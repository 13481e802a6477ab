import { selected, table } from '../../platform/postgres/columns.js';
import type { Tx } from '../../platform/postgres/database.js';
import { insertRows } from '../../platform/postgres/insert-rows.js';
import { replacing } from '../../platform/postgres/rows-by-key.js';

/** The last verdict of a policy about an asset, and when time may change it. */
export interface StoredVerdict {
  readonly policyId: string;
  readonly assetId: string;
  readonly compliant: boolean;
  readonly dueAt: Date | null;
}

const VERDICT = table('compliance_verdict').columns<StoredVerdict & { readonly tenantId: string }>({
  tenantId: 'tenant_id',
  policyId: 'policy_id',
  assetId: 'asset_id',
  compliant: 'compliant',
  dueAt: 'due_at',
});
const COLUMNS = selected(VERDICT, 'v', ['policyId', 'assetId', 'compliant', 'dueAt']);

/** Every stored verdict about these assets. */
export function verdictsAbout(tx: Tx, tenantId: string, assetIds: readonly string[]): Promise<StoredVerdict[]> {
  return tx.query<StoredVerdict>(
    `SELECT ${COLUMNS} FROM archivist.compliance_verdict v WHERE v.tenant_id = $1 AND v.asset_id = ANY ($2::uuid[])`,
    [tenantId, assetIds],
  );
}

/** Verdicts that time may have changed, those first that have been due for longest. */
export function dueVerdicts(tx: Tx, tenantId: string, now: Date, limit: number): Promise<StoredVerdict[]> {
  return tx.query<StoredVerdict>(
    `SELECT ${COLUMNS} FROM archivist.compliance_verdict v
      WHERE v.tenant_id = $1 AND v.due_at <= $2 ORDER BY v.due_at LIMIT $3`,
    [tenantId, now, limit],
  );
}

/** Stores verdicts in place of those before. */
export async function storeVerdicts(tx: Tx, tenantId: string, verdicts: readonly StoredVerdict[]): Promise<void> {
  await insertRows(
    tx,
    VERDICT,
    verdicts.map((verdict) => ({ ...verdict, tenantId })),
    replacing(VERDICT, ['tenantId', 'policyId', 'assetId'], ['compliant', 'dueAt']),
  );
}

/** Deletes verdicts of policies that do not apply any more. */
export async function deleteVerdicts(tx: Tx, tenantId: string, verdicts: readonly StoredVerdict[]): Promise<void> {
  if (verdicts.length === 0) return;
  await tx.execute(
    `DELETE FROM archivist.compliance_verdict v USING unnest($2::uuid[], $3::uuid[]) AS gone (policy_id, asset_id)
      WHERE v.tenant_id = $1 AND v.policy_id = gone.policy_id AND v.asset_id = gone.asset_id`,
    [tenantId, verdicts.map(({ policyId }) => policyId), verdicts.map(({ assetId }) => assetId)],
  );
}

/** Deletes verdicts of a tenancy, and returns how many. */
export function deleteSomeVerdicts(tx: Tx, tenantId: string, limit: number): Promise<number> {
  return tx.execute(
    `DELETE FROM archivist.compliance_verdict v USING (
       SELECT policy_id, asset_id FROM archivist.compliance_verdict WHERE tenant_id = $1 LIMIT $2) AS gone
      WHERE v.tenant_id = $1 AND v.policy_id = gone.policy_id AND v.asset_id = gone.asset_id`,
    [tenantId, limit],
  );
}
