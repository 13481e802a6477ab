import type { Ids } from '../../platform/ids.js';
import type { Tx } from '../../platform/postgres/database.js';
import type { Asset } from '../assets/asset.js';
import {
  type StatementAsset,
  type StatementAssetRef,
  takeStatementAssets,
} from '../registrations/statement-asset-store.js';
import type { Submission } from './submission.js';

/** What never changes of an asset, and all that the event of a registered statement takes from it. */
export type EventPlace = Pick<Asset, 'tenantId' | 'assetId' | 'originTenantId' | 'public' | 'proofMechanism'>;

/** The place alone: what else an asset has may be old by the time it is read. */
export function placeOfEvents({
  tenantId,
  assetId,
  originTenantId,
  public: isPublic,
  proofMechanism,
}: Asset): EventPlace {
  return { tenantId, assetId, originTenantId, public: isPublic, proofMechanism };
}

export const statementAssetKey = (ref: StatementAssetRef) => `${ref.tenantId}/${ref.public}`;

/**
 * Returns the assets under which the registrations of a batch become events, without those that are known: for these
 * there is no query.
 * @param deps with the known assets by key
 */
export function statementAssetsForBatch(
  tx: Tx,
  { ids, statementAssets }: { readonly ids: Ids; readonly statementAssets: ReadonlyMap<string, unknown> },
  submissions: readonly Submission[],
): Promise<StatementAsset[]> {
  const refs = statementAssetRefs(submissions);
  const unknown = refs.filter((ref) => !statementAssets.has(statementAssetKey(ref)));
  return takeStatementAssets(tx, unknown, () => ids.uuid());
}

/** Sorted, so that two concurrent batches cannot deadlock. */
function statementAssetRefs(submissions: readonly Submission[]): StatementAssetRef[] {
  const refs = submissions.flatMap((submission) =>
    submission.kind === 'registration' ? [{ tenantId: submission.principal.tenantId, public: submission.public }] : [],
  );
  const distinct = new Map(refs.map((ref) => [statementAssetKey(ref), ref]));
  return [...distinct].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, ref]) => ref);
}
