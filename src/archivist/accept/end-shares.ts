import { matchesAttributeFilter } from '../../filter/matches.js';
import { policiesOfShares } from '../../iam/access/access-policy-store.js';
import { readersOf } from '../../iam/access/confirmed-share-store.js';
import { type EndedGrant, sharedGrants } from '../../iam/access/past-grant.js';
import { keepPastAsset, keepPastGrant, lockShares } from '../../iam/access/past-grant-store.js';
import type { Tx } from '../../platform/postgres/database.js';
import type { AssetChange } from '../assets/asset-store.js';
import { endPastAssets, lockAttributes } from '../assets/past-asset-store.js';

/**
 * Keeps what other tenancies have seen of assets that their policies will not match after these changes: everything
 * before this batch. Must run before the changes, in their transaction. Takes one round trip if no policy of these
 * tenancies names another organisation.
 * @param nowMs when the batch was accepted
 */
export async function endShares(
  tx: Tx,
  { nowMs, uuid }: { readonly nowMs: number; uuid(): string },
  changes: readonly AssetChange[],
): Promise<void> {
  const changing = changes.filter(({ attributes }) => Object.keys(attributes).length > 0);
  if (changing.length === 0) return;
  const tenancies = [...new Set(changing.map(({ tenantId }) => tenantId))];
  const until = new Date(nowMs - 1);
  // A share that was ended since the batch began ends before it: what it showed then did not match its policy any more.
  const endPast = () => endPastAssets(tx, changing, until);
  const [found] = await Promise.all([policiesOfShares(tx, tenancies), endPast()]);
  const sharing = [...new Set(found.map(({ tenantId }) => tenantId))];
  if (sharing.length === 0) return;
  await lockShares(tx, sharing, 'together');
  await endPast();
  const policies = await policiesOfShares(tx, sharing);
  const grants: EndedGrant[] = [];
  for (const tenantId of new Set(policies.map((policy) => policy.tenantId))) {
    const readers = await readersOf(tx, tenantId);
    const own = policies.filter((policy) => policy.tenantId === tenantId);
    grants.push(...own.flatMap((policy) => sharedGrants(policy, readers)));
  }
  const shared = new Set(grants.map(({ tenantId }) => tenantId));
  const change = new Map(changing.map((each) => [each.assetId, each.attributes]));
  const assets = await lockAttributes(
    tx,
    changing.filter(({ tenantId }) => shared.has(tenantId)),
  );
  for (const { tenantId, assetId, attributes, createdAt } of assets) {
    const next = { ...attributes, ...change.get(assetId) };
    for (const grant of grants) {
      const ends =
        grant.tenantId === tenantId &&
        createdAt <= until &&
        matchesAttributeFilter(grant.filter, attributes) &&
        !matchesAttributeFilter(grant.filter, next);
      if (!ends) continue;
      const grantId = await keepPastGrant(tx, grant, uuid());
      await keepPastAsset(tx, { tenantId, grantId, assetId, until });
    }
  }
}
