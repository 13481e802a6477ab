import { z } from 'zod';
import { ApiError } from '../../platform/errors.js';
import type { Principal } from '../../platform/http/principal.js';
import { plainText } from '../../platform/plain-text.js';
import type { Database, Tx } from '../../platform/postgres/database.js';
import { uuidSchema } from '../../platform/uuid-schema.js';
import { OWNER_ROLE } from '../access/owner-and-creator.js';
import { type AdministerDeps, administer } from '../security/administer.js';
import { listOwners, lockOwners, setApplicationRoles, setMemberRoles } from '../security/owner-store.js';
import { tokenIssuer } from '../token-issuer.js';
import { requireManager } from './require-manager.js';

export interface AdministratorDeps extends AdministerDeps {
  readonly publicUrl: string;
}

/** Who is an administrator: an application has our token issuer, and its client id as subject. */
interface Administrator {
  readonly issuer: string;
  readonly subject: string;
}

const text = plainText(1024);
const administratorSchema = z.object({
  issuer: text.min(1),
  subject: text.min(1),
  display_name: text.optional(),
  email: text.optional(),
});
const administratorsSchema = z.array(administratorSchema).min(1).max(1000);

/** Body of `PATCH …/tenancies/root_principals`: the list, by the older or the newer name that the original gave it. */
export const replaceAdministratorsSchema = z
  .object({ root_principals: administratorsSchema.optional(), administrators: administratorsSchema.optional() })
  .refine((body) => (body.root_principals === undefined) !== (body.administrators === undefined), {
    error: 'must be the list of all administrators; send it as root_principals or as administrators, not as both',
    path: ['root_principals'],
  });
type ReplaceAdministratorsBody = z.output<typeof replaceAdministratorsSchema>;

export const administratorsResponseSchema = z.strictObject({
  root_principals: z.array(
    z.strictObject({ issuer: z.string(), subject: z.string(), display_name: z.string(), email: z.string() }),
  ),
});

/** The Owners of the caller's tenancy. @throws {ApiError} forbidden if the caller is not one of them */
export async function readAdministrators(
  deps: { readonly database: Database; readonly publicUrl: string },
  principal: Principal,
): Promise<Record<string, unknown>> {
  const { tenantId } = principal;
  requireManager(principal, 'Only Owners may read the list of administrators.');
  return deps.database.inTransaction({ read: [tenantId], write: [] }, async (tx) => inResponse(deps, tx, tenantId));
}

/**
 * Gives the Owner role to everyone in the list, and takes it from everyone else (docs/design/interface.md#tenancies-and-caps).
 * @throws {ApiError} forbidden if the caller is not an Owner, bad_request for a list without the caller, or with somebody
 *   who is neither an application nor an active member
 */
export function replaceAdministrators(
  deps: AdministratorDeps,
  principal: Principal,
  { root_principals, administrators }: ReplaceAdministratorsBody,
): Promise<Record<string, unknown>> {
  const { tenantId } = principal;
  const wanted = root_principals ?? administrators ?? [];
  const member = root_principals ? 'root_principals' : 'administrators';
  const act = { action: 'tenancy.set_owners', resource: `tenancies/${tenantId}` } as const;
  return administer(deps, principal, act, async (tx) => {
    if (!wanted.some((each) => isSame(each, principal)))
      throw new ApiError('bad_request', `${member}: you cannot leave yourself out: another Owner must do it`);
    await lockOwners(tx, tenantId);
    const before = await administratorsOf(deps, tx, tenantId);
    const added = wanted.filter((each) => !before.some((known) => isSame(each, known)));
    const removed = before.filter((known) => !wanted.some((each) => isSame(each, known)));
    for (const each of added) {
      if (await setRoles(deps, tx, tenantId, each, [OWNER_ROLE])) continue;
      throw new ApiError('bad_request', `${member}.${wanted.indexOf(each)}: ${unknown(deps, each)}`);
    }
    for (const each of removed) await setRoles(deps, tx, tenantId, each, []);
    const details = { added: added.map(({ subject }) => subject), removed: removed.map(({ subject }) => subject) };
    return { result: await inResponse(deps, tx, tenantId), details };
  });
}

async function inResponse(deps: Pick<AdministratorDeps, 'publicUrl'>, tx: Tx, tenantId: string) {
  return { root_principals: await administratorsOf(deps, tx, tenantId) };
}

async function administratorsOf({ publicUrl }: Pick<AdministratorDeps, 'publicUrl'>, tx: Tx, tenantId: string) {
  return (await listOwners(tx, tenantId)).map(({ issuer, subject, displayName, email }) => ({
    issuer: issuer || tokenIssuer(publicUrl),
    subject,
    display_name: displayName,
    email,
  }));
}

/** @returns whether there is such an application or active member */
async function setRoles(
  { publicUrl }: AdministratorDeps,
  tx: Tx,
  tenantId: string,
  { issuer, subject }: Administrator,
  roles: readonly string[],
): Promise<boolean> {
  if (issuer !== tokenIssuer(publicUrl)) return setMemberRoles(tx, { tenantId, issuer, subject, roles });
  const id = uuidSchema.safeParse(subject);
  return id.success && setApplicationRoles(tx, { tenantId, applicationId: id.data, roles });
}

function unknown({ publicUrl }: AdministratorDeps, { issuer }: Administrator): string {
  return issuer === tokenIssuer(publicUrl)
    ? 'there is no application with this client id'
    : `there is no active member with this issuer and subject: the person must sign in first. The issuer of applications is ${tokenIssuer(publicUrl)}`;
}

function isSame(left: Administrator, right: Administrator): boolean {
  return left.issuer === right.issuer && left.subject === right.subject;
}
