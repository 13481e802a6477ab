import { table } from '../../platform/postgres/columns.js';
import type { Tx } from '../../platform/postgres/database.js';
import { changeRow } from '../../platform/postgres/rows-by-key.js';
import { OWNER_ROLE } from '../access/owner-and-creator.js';

type Given<Key extends string> = Readonly<Record<'tenantId' | Key, string>> & { readonly roles: readonly string[] };

const APPLICATION = table('application').columns<Given<'applicationId'>>({
  tenantId: 'tenant_id',
  applicationId: 'application_id',
  roles: 'roles',
});
const MEMBER = table('member').columns<Given<'issuer' | 'subject'> & { readonly active: boolean }>({
  tenantId: 'tenant_id',
  issuer: 'issuer',
  subject: 'subject',
  roles: 'roles',
  active: 'active',
});

/** Serializes changes of a tenancy's Owners, its provider and its state until the transaction ends. */
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

/**
 * Roles of an active member of the provider by which people sign in. Both are locked against changes until the transaction
 * ends: after a change of the provider, the member can act no longer.
 */
export async function lockMemberRoles(
  tx: Tx,
  tenantId: string,
  principal: { readonly issuer: string; readonly subject: string },
): Promise<readonly string[] | undefined> {
  const [row] = await tx.query<{ roles: string[] }>(
    `SELECT m.roles FROM archivist.member m JOIN archivist.identity_provider p USING (tenant_id)
      WHERE tenant_id = $1 AND m.issuer = $2 AND m.subject = $3 AND m.active AND p.enabled AND p.issuer = m.issuer
        FOR SHARE`,
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

/** An application or an active member that has the Owner role. */
interface Owner {
  /** Of the member's provider; empty for an application, whose subject is its id. */
  readonly issuer: string;
  readonly subject: string;
  readonly displayName: string;
  readonly email: string;
}

/** Every Owner of a tenancy: first the applications, then the members, each the oldest first. */
export async function listOwners(tx: Tx, tenantId: string): Promise<Owner[]> {
  return tx.query<Owner & Record<string, unknown>>(
    `(SELECT '' AS issuer, application_id::text AS subject, display_name AS "displayName", '' AS email
        FROM archivist.application WHERE tenant_id = $1 AND $2 = ANY (roles) ORDER BY created_at, application_id)
     UNION ALL
     (SELECT issuer, subject, display_name, email
        FROM archivist.member WHERE tenant_id = $1 AND $2 = ANY (roles) AND active ORDER BY created_at, member_id)`,
    [tenantId, OWNER_ROLE],
  );
}

/** Gives an application of a tenancy exactly these roles. @returns whether there is such an application */
export async function setApplicationRoles(tx: Tx, given: Given<'applicationId'>): Promise<boolean> {
  return (await changeRow(tx, APPLICATION, ['tenantId', 'applicationId'], ['roles'], given)) !== undefined;
}

/** Gives an active member of a tenancy exactly these roles. @returns whether there is such a member */
export async function setMemberRoles(tx: Tx, given: Given<'issuer' | 'subject'>): Promise<boolean> {
  const key = ['tenantId', 'issuer', 'subject', 'active'] as const;
  return (await changeRow(tx, MEMBER, key, ['roles'], { ...given, active: true })) !== undefined;
}
