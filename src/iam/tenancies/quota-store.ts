import { selected, table } from '../../platform/postgres/columns.js';
import type { Tx } from '../../platform/postgres/database.js';
import { insertInto } from '../../platform/postgres/insert-rows.js';
import { SECURITY_EVENT_TYPE } from '../security/security-event.js';
import type { QuotaName } from './quotas.js';

/** Resources that can be deleted: their rows are counted each time one is added. */
export type CountedQuota =
  | 'access_policies'
  | 'applications'
  | 'compliance_policies'
  | 'locations'
  | 'tls_ca_certificates';
/**
 * Resources that only grow: their use is stored in a row of its own, because counting would become slower as they grow.
 */
export type MeteredQuota = Exclude<QuotaName, CountedQuota>;

const COUNTED: Readonly<Record<CountedQuota, string>> = {
  access_policies: 'archivist.access_policy',
  applications: 'archivist.application',
  compliance_policies: 'archivist.compliance_policy',
  locations: 'archivist.location',
  tls_ca_certificates: 'archivist.tls_ca_certificate',
};
const METERED: Readonly<Record<MeteredQuota, string>> = {
  assets: 'count(*) FROM archivist.asset',
  events: 'count(*) FROM archivist.asset_event',
  // The entries of the security audit are the service's own: a caller without rights makes one with each refused attempt.
  asset_free_events: `count(*) FILTER (WHERE event_type <> '${SECURITY_EVENT_TYPE}') FROM archivist.asset_free_event`,
  blobs: 'count(*) FROM archivist.blob',
  blob_bytes: 'coalesce(sum(size), 0)::bigint FROM archivist.blob',
};
export const METERED_QUOTAS = Object.keys(METERED) as MeteredQuota[];

export function isMetered(name: QuotaName): name is MeteredQuota {
  return Object.hasOwn(METERED, name);
}

/** Locks counting in this tenancy until the transaction ends. */
export async function lockForCounting(tx: Tx, tenantId: string): Promise<void> {
  await tx.query('SELECT FROM archivist.tenancy WHERE tenant_id = $1 FOR NO KEY UPDATE', [tenantId]);
}

/** Number of rows that the tenancy has; counting stops at `limit`. */
export async function countRows(tx: Tx, name: CountedQuota, tenantId: string, limit: number): Promise<number> {
  const [row] = await tx.query<{ total: bigint }>(
    `SELECT count(*) AS total FROM (SELECT 1 FROM ${COUNTED[name]} WHERE tenant_id = $1 LIMIT $2) AS counted`,
    [tenantId, limit],
  );
  return Number(row?.total ?? 0);
}

/** How much of a metered quota one tenancy has used. */
interface Usage {
  readonly tenantId: string;
  readonly name: MeteredQuota;
  readonly used: number;
}

const USAGE = table('tenancy_usage').columns<Omit<Usage, 'used'> & { readonly used: bigint }>({
  tenantId: 'tenant_id',
  name: 'resource',
  used: 'used',
});

/** The existing rows; with `lock`, no other transaction can change them until this one ends. */
export async function findUsage(
  tx: Tx,
  tenantIds: readonly string[],
  names: readonly MeteredQuota[],
  lock: 'lock' | 'read',
): Promise<Usage[]> {
  // Always in the same order, so that two batches cannot deadlock.
  const rows = await tx.query<Omit<Usage, 'used'> & { readonly used: bigint }>(
    `SELECT ${selected(USAGE, 'u')} FROM archivist.tenancy_usage u
      WHERE u.tenant_id = ANY ($1::uuid[]) AND u.resource = ANY ($2::text[])
      ORDER BY u.tenant_id, u.resource ${lock === 'lock' ? 'FOR UPDATE' : ''}`,
    [tenantIds, names],
  );
  return rows.map((row) => ({ ...row, used: Number(row.used) }));
}

/**
 * Creates a row by counting what exists, unless it was already created; waits for a transaction that is creating it.
 */
export async function beginUsage(tx: Tx, tenantId: string, name: MeteredQuota): Promise<void> {
  await tx.execute(
    `${insertInto(USAGE)}
     SELECT $1, $2, ${METERED[name]} WHERE tenant_id = $1 ON CONFLICT DO NOTHING`,
    [tenantId, name],
  );
}

/** Counts what exists, without using a stored row. */
export async function countUsage(tx: Tx, tenantId: string, name: MeteredQuota): Promise<number> {
  const text = `SELECT ${METERED[name]} WHERE tenant_id = $1`;
  const [row] = await tx.query<Record<string, bigint>>(text, [tenantId]);
  return Number(Object.values(row ?? {})[0] ?? 0);
}

export async function setUsage(tx: Tx, usage: readonly Usage[]): Promise<void> {
  if (usage.length === 0) return;
  await tx.execute(
    `UPDATE archivist.tenancy_usage u SET ${USAGE.of.used} = n.used
       FROM unnest($1::uuid[], $2::text[], $3::bigint[]) AS n(tenant_id, resource, used)
      WHERE u.tenant_id = n.tenant_id AND u.resource = n.resource`,
    [usage.map((each) => each.tenantId), usage.map((each) => each.name), usage.map((each) => each.used)],
  );
}

/** Deletes the rows of these quotas in every tenancy. */
export async function deleteUsage(tx: Tx, names: readonly MeteredQuota[]): Promise<void> {
  if (names.length === 0) return;
  await tx.execute('DELETE FROM archivist.tenancy_usage WHERE resource = ANY ($1::text[])', [names]);
}
