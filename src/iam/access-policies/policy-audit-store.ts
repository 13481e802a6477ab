import type { Alternatives } from '../../filter/attribute-filter.js';
import { selected, table } from '../../platform/postgres/columns.js';
import type { Tx } from '../../platform/postgres/database.js';
import { insertRows } from '../../platform/postgres/insert-rows.js';
import { deleteRows, updateRows } from '../../platform/postgres/rows-by-key.js';

/** Audit events that have not yet been recorded for one version of a policy. */
export interface PolicyAudit {
  readonly tenantId: string;
  readonly policyId: string;
  readonly version: bigint;
  readonly filters: readonly Alternatives[];
  /** Attributes of every such event. */
  readonly eventAttributes: Readonly<Record<string, unknown>>;
  /** Assets up to this one already have their event. */
  readonly afterAsset: string;
  /** Assets created later get no event. */
  readonly createdAt: Date;
}

/** Before every id. */
const NO_ID = '00000000-0000-0000-0000-000000000000';

const AUDIT = table('access_policy_audit').columns<PolicyAudit>({
  tenantId: 'tenant_id',
  policyId: 'policy_id',
  version: 'version',
  filters: 'filters',
  eventAttributes: 'event_attributes',
  afterAsset: 'after_asset',
  createdAt: 'created_at',
});
const KEY = ['tenantId', 'policyId', 'version'] as const;

export async function insertPolicyAudit(tx: Tx, audit: Omit<PolicyAudit, 'afterAsset'>): Promise<void> {
  await insertRows(tx, AUDIT, [{ ...audit, afterAsset: NO_ID }]);
}

/**
 * Locks and returns the oldest audit of a tenancy that no worker has claimed; undefined if there is none. The lock lasts
 * until the transaction ends.
 * @param afterTenant the tenancy whose turn was before: the next one that has audits comes first, and itself last
 */
export async function takePolicyAudit(tx: Tx, afterTenant: string = NO_ID): Promise<PolicyAudit | undefined> {
  const [audit] = await tx.query<PolicyAudit>(
    `SELECT ${selected(AUDIT, 'p')} FROM archivist.access_policy_audit p
      ORDER BY p.tenant_id <= $1, p.tenant_id, p.created_at, p.policy_id, p.version LIMIT 1 FOR UPDATE SKIP LOCKED`,
    [afterTenant],
  );
  return audit;
}

export async function advancePolicyAudit(tx: Tx, audit: PolicyAudit, afterAsset: string): Promise<void> {
  await updateRows(tx, AUDIT, KEY, ['afterAsset'], { ...audit, afterAsset });
}

export async function deletePolicyAudit(tx: Tx, audit: PolicyAudit): Promise<void> {
  await deleteRows(tx, AUDIT, KEY, audit);
}
