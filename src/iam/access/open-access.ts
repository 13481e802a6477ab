import type { Principal } from '../../platform/http/principal.js';
import type { Tx } from '../../platform/postgres/database.js';
import { confirmedShares } from '../subjects/confirmed-share-store.js';
import { policiesNaming } from './access-policy-store.js';
import { type Grant, grantsOf, shows } from './grant.js';
import { isOwner } from './owner-and-creator.js';
import { keysOf } from './principal-key.js';
import { readAlso } from './shared-reads-store.js';

/** A principal, and what policies grant to it now. */
export interface Access {
  readonly principal: Principal;
  readonly grants: readonly Grant[];
}

/**
 * Reads what policies grant to the principal. People and applications are granted by policies of their own tenancy;
 * Owners also by policies of tenancies that are mutually confirmed with theirs. From here on, the transaction can read
 * those tenancies.
 */
export async function openAccess(tx: Tx, principal: Principal): Promise<Access> {
  const grants = isOwner(principal) ? await grantsOfShares(tx, principal) : await grantsInOwnTenancy(tx, principal);
  return { principal, grants };
}

/** What the policies of the principal's own tenancy grant to it. */
export async function grantsInOwnTenancy(tx: Tx, principal: Principal): Promise<Grant[]> {
  const keys = keysOf(principal);
  return grantsOf(await policiesNaming(tx, principal.tenantId, keys), new Set(keys));
}

async function grantsOfShares(tx: Tx, principal: Principal): Promise<Grant[]> {
  const shares = await confirmedShares(tx, principal.tenantId);
  if (shares.length === 0) return [];
  await readAlso(
    tx,
    shares.map((share) => share.tenantId),
  );
  const grants: Grant[] = [];
  for (const { tenantId, knownThereAs } of shares) {
    const keys = knownThereAs.map((subject) => `subjects/${subject}`);
    grants.push(...grantsOf(await policiesNaming(tx, tenantId, keys), new Set(keys)));
  }
  return grants;
}

/** The tenancies of which this access may see something, its own first. */
export function visibleTenancies({ principal, grants }: Access): string[] {
  return [...new Set([principal.tenantId, ...grants.filter(shows).map((grant) => grant.tenantId)])];
}
