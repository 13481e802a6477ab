import type { EndedGrant } from '../../iam/access/past-grant.js';
import { dropEmptyGrants, heaviestPast, keepPastGrant } from '../../iam/access/past-grant-store.js';
import type { Clock } from '../../platform/clock.js';
import { ApiError } from '../../platform/errors.js';
import type { Ids } from '../../platform/ids.js';
import type { Tx } from '../../platform/postgres/database.js';
import { keepPastAssets } from '../assets/past-asset-store.js';

/** The weight of what a tenancy's ended shares keep showing to one other tenancy. */
const MOST_PAST = 1_024;

/**
 * Keeps what these grants showed until now readable to the tenancies that lose them, in the transaction that ends them
 * (docs/access.md#when-a-share-ends).
 * @throws {ApiError} bad_request if a tenancy would keep too much; only a withdrawal ends what it could read
 */
export async function keepShares(
  tx: Tx,
  deps: { readonly clock: Clock; readonly ids: Ids },
  ended: readonly EndedGrant[],
): Promise<void> {
  const until = new Date(deps.clock.now());
  for (const grant of ended) await keepPastAssets(tx, grant, await keepPastGrant(tx, grant, deps.ids.uuid()), until);
  for (const tenantId of new Set(ended.map((grant) => grant.tenantId))) {
    await dropEmptyGrants(tx, tenantId);
    const readers = ended.filter((grant) => grant.tenantId === tenantId).map((grant) => grant.readerTenantId);
    if ((await heaviestPast(tx, tenantId, [...new Set(readers)])) > MOST_PAST)
      throw new ApiError(
        'bad_request',
        `With this change, what ended policies still show the other organisation would have a weight above ${MOST_PAST}. Add ?withdraw=true to this request, or to the change of another such policy, to end what it shows.`,
      );
  }
}
