import type { EndedGrant } from '../../iam/access/past-grant.js';
import { keepPastGrant } from '../../iam/access/past-grant-store.js';
import type { Clock } from '../../platform/clock.js';
import type { Ids } from '../../platform/ids.js';
import type { Tx } from '../../platform/postgres/database.js';
import { keepPastAssets } from '../assets/past-asset-store.js';

/**
 * Keeps what these grants showed until now readable to the tenancies that lose them, in the transaction that ends them
 * (docs/access.md#when-a-share-ends).
 */
export async function keepShares(
  tx: Tx,
  deps: { readonly clock: Clock; readonly ids: Ids },
  ended: readonly EndedGrant[],
): Promise<void> {
  const until = new Date(deps.clock.now());
  for (const grant of ended) {
    await keepPastAssets(tx, grant, await keepPastGrant(tx, grant, deps.ids.uuid()), until);
  }
}
