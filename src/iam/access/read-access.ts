import type { Principal } from '../../platform/http/principal.js';
import type { Tx } from '../../platform/postgres/database.js';
import { type NamedBy, policiesInEffect } from './access-policy-store.js';
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
  /** How many policies that name the principal do not count, because those before them weigh enough. */
  readonly skipped: number;
}

/**
 * Reads what policies grant to the principal. People and applications are granted by policies of their own tenancy;
 * Owners also by policies of tenancies that are mutually confirmed with theirs, and by ended shares. From here on, the
 * transaction can read those tenancies.
 */
export async function readAccess(tx: Tx, principal: Principal): Promise<Access> {
  if (!isOwner(principal)) return { principal, ...(await grantsInOwnTenancy(tx, principal)), past: [] };
  const { tenantId } = principal;
  const [shares, sharers] = await Promise.all([confirmedShares(tx, tenantId), pastSharers(tx, tenantId)]);
  return {
    principal,
    ...(await grantsOfShares(tx, shares)),
    past: await grantsOfEndedShares(tx, sharers, tenantId),
  };
}

/** What policies grant, and how many of them are left out because of their weight. */
interface Granted {
  readonly grants: readonly Grant[];
  readonly skipped: number;
}

/** What the policies of the principal's own tenancy grant to it. */
export function grantsInOwnTenancy(tx: Tx, principal: Principal): Promise<Granted> {
  return grantedTo(tx, [{ tenantId: principal.tenantId, principals: keysOf(principal) }]);
}

async function grantsOfShares(tx: Tx, shares: Awaited<ReturnType<typeof confirmedShares>>): Promise<Granted> {
  if (shares.length === 0) return { grants: [], skipped: 0 };
  await readAlso(
    tx,
    shares.map((share) => share.tenantId),
  );
  return grantedTo(
    tx,
    shares.map(({ tenantId, knownThereAs }) => ({
      tenantId,
      principals: knownThereAs.map((subject) => `subjects/${subject}`),
    })),
  );
}

async function grantedTo(tx: Tx, named: readonly NamedBy[]): Promise<Granted> {
  const keys = new Map(named.map(({ tenantId, principals }) => [tenantId, new Set(principals)]));
  const { policies, skipped } = await policiesInEffect(tx, named);
  return { grants: await grantsOf(policies, (tenantId) => keys.get(tenantId)!), skipped };
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
