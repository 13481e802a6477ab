import type { Grant } from '../../iam/access/grant.js';
import { permits } from '../../iam/access/permits.js';
import { grantsInOwnTenancy } from '../../iam/access/read-access.js';
import type { Principal } from '../../platform/http/principal.js';
import type { Tx } from '../../platform/postgres/database.js';
import type { Asset } from '../assets/asset.js';
import { assetKey } from '../assets/asset-store.js';
import type { Submission } from './submission.js';

/**
 * Reads, in the recording transaction, what policies grant to principals that record on assets they did not create.
 * Runs no query when every principal of the batch records on its own assets.
 * @param assets by `assetKey`
 */
export async function grantsForBatch(
  tx: Tx,
  submissions: readonly Submission[],
  assets: ReadonlyMap<string, Asset>,
): Promise<(principal: Principal) => readonly Grant[]> {
  const found = new Map<Principal, readonly Grant[]>();
  for (const submission of submissions) {
    if (submission.kind !== 'asset_event') continue;
    const { principal, assetId } = submission;
    const asset = assets.get(assetKey({ tenantId: principal.tenantId, assetId }));
    if (!asset || asset.public || found.has(principal)) continue;
    if (permits(principal, 'record', { kind: 'asset', ...asset })) continue;
    found.set(principal, (await grantsInOwnTenancy(tx, principal)).grants);
  }
  return (principal) => found.get(principal) ?? [];
}
