import type { Tx } from '../../platform/postgres/database.js';

/** Lets changes of who owns a tenancy come one after the other, until the transaction ends. */
export async function lockOwners(tx: Tx, tenantId: string): Promise<void> {
  await tx.query('SELECT 1 FROM archivist.tenancy WHERE tenant_id = $1 FOR NO KEY UPDATE', [tenantId]);
}

/** True while this is an active Owner among the members, or among the applications when `applicationIssuer` is its issuer. */
export async function isOwnerNow(
  tx: Tx,
  tenantId: string,
  principal: { readonly issuer: string; readonly subject: string },
  applicationIssuer: string,
): Promise<boolean> {
  const [row] = await tx.query<{ owns: boolean }>(
    principal.issuer === applicationIssuer
      ? `SELECT EXISTS (SELECT FROM archivist.application a
           WHERE a.tenant_id = $1 AND a.application_id::text = $2 AND 'OWNER' = ANY (a.roles)) AS owns`
      : `SELECT EXISTS (SELECT FROM archivist.member m
           WHERE m.tenant_id = $1 AND m.subject = $2 AND m.issuer = $3 AND m.active AND 'OWNER' = ANY (m.roles)) AS owns`,
    [tenantId, principal.subject, ...(principal.issuer === applicationIssuer ? [] : [principal.issuer])],
  );
  return row?.owns ?? false;
}
