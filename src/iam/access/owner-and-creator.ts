import type { Principal } from '../../platform/http/principal.js';

/** The role that may do everything in its own tenancy. */
export const OWNER_ROLE = 'OWNER';

/** True when the principal administers its tenancy. */
export function isOwner(principal: Principal): boolean {
  return principal.roles.includes(OWNER_ROLE);
}

/** The creator of something, by token issuer and subject. */
export interface Created {
  readonly creatorIssuer: string;
  readonly creatorSubject: string;
}

/** True if the principal created it. The caller must check that it belongs to the principal's tenancy. */
export function createdBy(principal: Principal, resource: Created): boolean {
  return resource.creatorIssuer === principal.issuer && resource.creatorSubject === principal.subject;
}
