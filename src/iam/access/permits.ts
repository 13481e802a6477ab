import type { Principal } from '../../platform/http/principal.js';

/** What somebody wants to do. To manage is to create, change and delete what a tenancy is set up with. */
export type Verb = 'create' | 'read' | 'record' | 'manage';

/** What it is done to. Creators are named by token issuer and subject. */
export type Resource =
  | { readonly kind: 'assets' | 'asset_free_events' | 'blobs'; readonly tenantId: string }
  | { readonly kind: 'compliance_policies' | 'locations' | 'tenancy' | 'caps' | 'chain'; readonly tenantId: string }
  | { readonly kind: 'location'; readonly tenantId: string; readonly permittedSubjects: readonly string[] }
  | {
      readonly kind: 'asset' | 'asset_event' | 'asset_free_event' | 'blob';
      readonly tenantId: string;
      readonly creatorIssuer: string;
      readonly creatorSubject: string;
    };

/** The role that may do everything in its own tenancy. */
export const OWNER_ROLE = 'OWNER';

/** True when the principal administers its tenancy. */
export function isOwner(principal: Principal): boolean {
  return principal.roles.includes(OWNER_ROLE);
}

/**
 * The one door of authorization: everything not granted here is denied (DESIGN 7.4, 10). Owners may do all in their own
 * tenancy; any active identity may create assets, asset-free events and blobs, read what it created, record on its own
 * assets, and read locations, compliance policies and caps. A location is changed by its permitted subjects, too.
 */
export function permits(principal: Principal, verb: Verb, resource: Resource): boolean {
  if (resource.tenantId !== principal.tenantId) return false;
  if (isOwner(principal)) return true;
  switch (resource.kind) {
    case 'assets':
    case 'asset_free_events':
    case 'blobs':
      return verb === 'create';
    case 'compliance_policies':
    case 'locations':
    case 'caps':
    case 'chain':
      return verb === 'read';
    case 'tenancy':
      return false;
    case 'location':
      return verb === 'read' || (verb === 'manage' && isNamedAmong(principal, resource.permittedSubjects));
    case 'asset':
      return (verb === 'read' || verb === 'record') && createdBy(principal, resource);
    case 'asset_event':
    case 'asset_free_event':
    case 'blob':
      return verb === 'read' && createdBy(principal, resource);
  }
}

/**
 * True when nothing of the asset is hidden from the principal, now or in its past: Owners and its creator. What anything
 * else grants is a part.
 */
export function readsWhole(
  principal: Principal,
  asset: { readonly tenantId: string; readonly creatorIssuer: string; readonly creatorSubject: string },
): boolean {
  return asset.tenantId === principal.tenantId && (isOwner(principal) || createdBy(principal, asset));
}

/** What a list may show: everything of the tenancy, or only what this identity created. The same rule as `permits` read. */
export type Visibility = 'all' | { readonly issuer: string; readonly subject: string };

export function visibilityOf(principal: Principal): Visibility {
  return isOwner(principal) ? 'all' : { issuer: principal.issuer, subject: principal.subject };
}

function createdBy(principal: Principal, resource: { creatorIssuer: string; creatorSubject: string }): boolean {
  return resource.creatorIssuer === principal.issuer && resource.creatorSubject === principal.subject;
}

/** People are named by e-mail address, applications by client id or identity (openapi facts, locationsv2). */
function isNamedAmong({ subject, email }: Principal, names: readonly string[]): boolean {
  const own = [subject, `applications/${subject}`, ...(email === '' ? [] : [email.toLowerCase()])];
  return names.some((name) => own.includes(name.includes('@') ? name.toLowerCase() : name));
}
