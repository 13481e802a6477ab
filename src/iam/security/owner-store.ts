import type { Tx } from '../../platform/postgres/database.js';
import { OWNER_ROLE } from '../access/permits.js';

/** Serializes changes of a tenancy's Owners until the transaction ends. */
export async function lockOwners(tx: Tx, tenantId: string): Promise<void> {
  await tx.query('SELECT 1 FROM archivist.tenancy WHERE tenant_id = $1 FOR NO KEY UPDATE', [tenantId]);
}

/** Whether the tenancy has an Owner: an application, or an active member of the provider by which people sign in. */
export async function hasOwner(tx: Tx, tenantId: string): Promise<boolean> {
  const rows = await tx.query(
    `SELECT FROM archivist.application WHERE tenant_id = $1 AND $2 = ANY (roles)
     UNION ALL SELECT FROM archivist.member m JOIN archivist.identity_provider p USING (tenant_id)
      WHERE tenant_id = $1 AND $2 = ANY (m.roles) AND m.active AND p.enabled AND p.issuer = m.issuer LIMIT 1`,
    [tenantId, OWNER_ROLE],
  );
  return rows.length > 0;
}

/** Roles of an active member, locked against changes until the transaction ends. */
export async function lockMemberRoles(
  tx: Tx,
  tenantId: string,
  principal: { readonly issuer: string; readonly subject: string },
): Promise<readonly string[] | undefined> {
  const [row] = await tx.query<{ roles: string[] }>(
    `SELECT roles FROM archivist.member WHERE tenant_id = $1 AND issuer = $2 AND subject = $3 AND active FOR SHARE`,
    [tenantId, principal.issuer, principal.subject],
  );
  return row?.roles;
}

/** The application's roles, locked against changes until the transaction ends. */
export async function lockApplicationRoles(
  tx: Tx,
  { tenantId, applicationId }: { readonly tenantId: string; readonly applicationId: string },
): Promise<readonly string[] | undefined> {
  const [row] = await tx.query<{ roles: string[] }>(
    'SELECT roles FROM archivist.application WHERE tenant_id = $1 AND application_id = $2 FOR SHARE',
    [tenantId, applicationId],
  );
  return row?.roles;
}
