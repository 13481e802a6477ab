import type { Principal } from '../../platform/http/principal.js';
import type { Tx } from '../../platform/postgres/database.js';
import { policiesNaming } from './access-policy-store.js';
import { confirmedShares } from './confirmed-share-store.js';
import { type Grant, grantsOf, shows } from './grant.js';
import { isOwner } from './owner-and-creator.js';
import type { PastGrant } from './past-grant.js';
import { findPastGrants, pastSharers } from './past-grant-store.js';
import { keysOf } from './principal-key.js';
import { readAlso } from './shared-reads-store.js';

/** A principal, what policies grant to it now, and what ended shares still show to it. */
export interface Access {
  readonly principal: Principal;
  readonly grants: readonly Grant[];
  readonly past: readonly PastGrant[];
}

/**
 * Reads what policies grant to the principal. People and applications are granted by policies of their own tenancy;
 * Owners also by policies of tenancies that are mutually confirmed with theirs, and by ended shares. From here on, the
 * transaction can read those tenancies.
 */
export async function openAccess(tx: Tx, principal: Principal): Promise<Access> {
  if (!isOwner(principal)) return { principal, grants: await grantsInOwnTenancy(tx, principal), past: [] };
  const { tenantId } = principal;
  const [shares, sharers] = await Promise.all([confirmedShares(tx, tenantId), pastSharers(tx, tenantId)]);
  return {
    principal,
    grants: await grantsOfShares(tx, shares),
    past: await grantsOfEndedShares(tx, sharers, tenantId),
  };
}

/** What the policies of the principal's own tenancy grant to it. */
export async function grantsInOwnTenancy(tx: Tx, principal: Principal): Promise<Grant[]> {
  const keys = keysOf(principal);
  return grantsOf(await policiesNaming(tx, principal.tenantId, keys), new Set(keys));
}

async function grantsOfShares(tx: Tx, shares: Awaited<ReturnType<typeof confirmedShares>>): Promise<Grant[]> {
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

async function grantsOfEndedShares(tx: Tx, sharers: readonly string[], tenantId: string): Promise<PastGrant[]> {
  if (sharers.length === 0) return [];
  await readAlso(tx, sharers);
  return findPastGrants(tx, sharers, tenantId);
}

/** The tenancies of which this access may see something, its own first. */
export function visibleTenancies({ principal, grants, past }: Access): string[] {
  return [...new Set([principal.tenantId, ...[...grants, ...past].filter(shows).map((grant) => grant.tenantId)])];
}
