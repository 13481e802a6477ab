import type { Ids } from '../../platform/ids.js';
import type { Tx } from '../../platform/postgres/database.js';
import {
  type StatementAsset,
  type StatementAssetRef,
  takeStatementAssets,
} from '../registrations/statement-asset-store.js';
import type { Submission } from './submission.js';

export const statementAssetKey = (ref: StatementAssetRef) => `${ref.tenantId}/${ref.public}`;

/**
 * Returns the assets under which the registrations of a batch become events. Those that earlier transactions have
 * created are known without a query.
 * @param deps with the ids of known assets, by key
 */
export async function statementAssetsForBatch(
  tx: Tx,
  { ids, statementAssets }: { readonly ids: Ids; readonly statementAssets: Map<string, string> },
  submissions: readonly Submission[],
): Promise<StatementAsset[]> {
  const refs = statementAssetRefs(submissions);
  const unknown = refs.filter((ref) => !statementAssets.has(statementAssetKey(ref)));
  const taken = await takeStatementAssets(tx, unknown, () => ids.uuid());
  for (const each of taken) if (!each.fresh) statementAssets.set(statementAssetKey(each), each.assetId);
  const known = refs.flatMap((ref) => {
    const assetId = statementAssets.get(statementAssetKey(ref));
    return assetId === undefined ? [] : [{ ...ref, assetId, fresh: false }];
  });
  return [...known, ...taken.filter(({ fresh }) => fresh)];
}

/** Sorted, so that two concurrent batches cannot deadlock. */
function statementAssetRefs(submissions: readonly Submission[]): StatementAssetRef[] {
  const refs = submissions.flatMap((submission) =>
    submission.kind === 'registration' ? [{ tenantId: submission.principal.tenantId, public: submission.public }] : [],
  );
  const distinct = new Map(refs.map((ref) => [statementAssetKey(ref), ref]));
  return [...distinct].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, ref]) => ref);
}
