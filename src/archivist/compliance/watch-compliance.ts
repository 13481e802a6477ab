import { leafRange } from '../../ledger/leaf-store.js';
import { tenancyLog } from '../../ledger/log.js';
import { publishedLeaves } from '../../ledger/published-leaves-store.js';
import type { Clock } from '../../platform/clock.js';
import type { Ids } from '../../platform/ids.js';
import type { Logger } from '../../platform/logger.js';
import type { Database, Tx } from '../../platform/postgres/database.js';
import { timestampOf } from '../../platform/timestamps.js';
import type { Asset } from '../assets/asset.js';
import { findAssets } from '../assets/asset-store.js';
import { queueNotices } from '../webhooks/queue-notices.js';
import type { Notice } from '../webhooks/webhook.js';
import { everyPolicy } from './applicable-policies.js';
import type { StoredPolicy } from './compliance-policy-store.js';
import {
  deleteSomeVerdicts,
  deleteVerdicts,
  dueVerdicts,
  type StoredVerdict,
  storeVerdicts,
  verdictsAbout,
} from './compliance-verdict-store.js';
import {
  assetIdsAfter,
  assetsOfEvents,
  beginWatch,
  deleteScans,
  deleteWatch,
  endedWatches,
  lockWatch,
  moveWatch,
  storeScan,
  unfinishedScans,
  watchedTenancies,
} from './compliance-watch-store.js';
import { evaluateAssets } from './evaluate-assets.js';
import { policyIdentity } from './read-compliance-policies.js';
import { startingVerdicts } from './starting-verdicts.js';

/** Positions of the log, or verdicts, that one transaction evaluates. */
const AT_ONCE = 100;
/** Transactions for one tenancy before the others have their turn. */
const MOST_STEPS = 20;
const DELETED_AT_ONCE = 1_000;

export interface WatchComplianceDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
}

/**
 * Evaluates the compliance policies of each tenancy that has a webhook for it: assets with newly published events, and
 * assets whose verdict time may have changed. A verdict that changed is stored and told in one transaction, so each change
 * is told once, however many processes run this. What a policy finds on existing assets when it is first evaluated is
 * stored and not told; later, an asset without a stored verdict counts as compliant. Ends when nothing is left to do.
 */
export async function watchCompliance(deps: WatchComplianceDeps, stopping: () => boolean): Promise<void> {
  while (await watchInTurn(deps, stopping)) if (stopping()) return;
}

/** Does a part of the work for each tenancy. Returns whether some may be left. */
async function watchInTurn(deps: WatchComplianceDeps, stopping: () => boolean): Promise<boolean> {
  const { database, logger } = deps;
  const { ended, watched } = await database.inTransaction('system', async (tx) => ({
    ended: await endedWatches(tx),
    watched: await watchedTenancies(tx),
  }));
  for (const tenantId of ended) await database.inTransaction(scopeOf(tenantId), (tx) => forget(tx, tenantId));
  let isLeft = false;
  for (const tenantId of watched) {
    try {
      let steps = 0;
      while (steps < MOST_STEPS && !stopping()) {
        if (!(await database.inTransaction(scopeOf(tenantId), (tx) => step(deps, tx, tenantId)))) break;
        steps += 1;
      }
      isLeft ||= steps === MOST_STEPS;
    } catch (error) {
      // Such as a policy that is deleted meanwhile: nothing of the step is left, and the next run repeats it.
      logger.warn({ err: error, tenancy: tenantId }, 'compliance could not be evaluated; it is retried');
    }
  }
  return isLeft;
}

const scopeOf = (tenantId: string) => ({ read: [tenantId], write: [tenantId] });

/** Deletes what was stored for webhooks that are gone, a part at a time. */
async function forget(tx: Tx, tenantId: string): Promise<void> {
  if (typeof (await lockWatch(tx, tenantId)) !== 'bigint') return;
  // First, so that a webhook that comes back begins with what policies find then.
  await deleteScans(tx, tenantId);
  if ((await deleteSomeVerdicts(tx, tenantId, DELETED_AT_ONCE)) === 0) await deleteWatch(tx, tenantId);
}

/** Does one part of the work for a tenancy. Returns false if it did nothing. */
async function step(deps: WatchComplianceDeps, tx: Tx, tenantId: string): Promise<boolean> {
  const log = tenancyLog(tenantId);
  const end = (await publishedLeaves(tx, [log])).get(log.logId) ?? 0n;
  const cursor = await lockWatch(tx, tenantId);
  if (cursor === 'taken') return false;
  if (cursor === undefined) {
    await beginWatch(tx, tenantId, end - 1n);
    return true;
  }
  const [policies, unscanned] = [await everyPolicy(tx, tenantId), await unfinishedScans(tx, tenantId)];
  const work: Work = { deps, tx, tenantId, nowMs: deps.clock.now(), policies, unscanned };
  return (await evaluateEvents(work, cursor, end)) || (await evaluateDue(work)) || (await evaluateFirst(work));
}

interface Work {
  readonly deps: WatchComplianceDeps;
  readonly tx: Tx;
  readonly tenantId: string;
  readonly nowMs: number;
  readonly policies: readonly StoredPolicy[];
  /** Policies whose first verdicts are stored only on assets up to this one. */
  readonly unscanned: ReadonlyMap<string, string>;
}

/** Evaluates the assets of events that were published since. */
async function evaluateEvents(work: Work, cursor: bigint, end: bigint): Promise<boolean> {
  const { tx, tenantId, policies } = work;
  const from = cursor + 1n;
  const to = from + BigInt(AT_ONCE) < end ? from + BigInt(AT_ONCE) : end;
  if (to <= from) return false;
  const leaves = await leafRange(tx, tenancyLog(tenantId), from, to);
  const eventIds = leaves.flatMap(({ entryKind, entryId }) => (entryKind === 'asset_event' ? [entryId] : []));
  const firstEvents = await assetsOfEvents(tx, tenantId, eventIds);
  await evaluate(work, [...firstEvents.keys()], policies, firstEvents);
  await moveWatch(tx, tenantId, to - 1n);
  return true;
}

/** Evaluates assets whose verdict time may have changed. */
async function evaluateDue(work: Work): Promise<boolean> {
  const { tx, tenantId, nowMs, policies } = work;
  const due = await dueVerdicts(tx, tenantId, new Date(nowMs), AT_ONCE);
  if (due.length === 0) return false;
  const assetIds = [...new Set(due.map(({ assetId }) => assetId))];
  await evaluate(work, assetIds, policies);
  return true;
}

/** Stores the first verdicts of a policy. */
async function evaluateFirst(work: Work): Promise<boolean> {
  const { tx, tenantId, policies, unscanned } = work;
  const [scan] = unscanned;
  if (!scan) return false;
  const [scanned, after] = scan;
  const assetIds = await assetIdsAfter(tx, tenantId, after, AT_ONCE);
  await evaluate(
    work,
    assetIds,
    policies.filter(({ policyId }) => policyId === scanned),
  );
  const done = assetIds.length < AT_ONCE;
  await storeScan(tx, tenantId, { policyId: scanned, afterAsset: assetIds.at(-1) ?? after, done });
  return true;
}

interface Evaluated {
  readonly assets: readonly Asset[];
  readonly policies: readonly StoredPolicy[];
  readonly firstEvents: ReadonlyMap<string, number>;
}

/**
 * Evaluates assets, stores the verdicts, and tells those that differ from the ones before. On an asset that a policy's
 * first evaluation has not reached, a first verdict is told only if an event changed it.
 * @param firstEvents when the first new event of an asset was accepted, in Unix milliseconds
 */
async function evaluate(
  work: Work,
  assetIds: readonly string[],
  policies: readonly StoredPolicy[],
  firstEvents: ReadonlyMap<string, number> = new Map(),
): Promise<void> {
  const { tx, tenantId, nowMs } = work;
  const evaluated = new Set(policies.map(({ policyId }) => policyId));
  const stored = (await verdictsAbout(tx, tenantId, assetIds)).filter(({ policyId }) => evaluated.has(policyId));
  const assets = await findAssets(
    tx,
    assetIds.map((assetId) => ({ tenantId, assetId })),
  );
  const before = new Map(stored.map((verdict) => [keyOf(verdict), verdict]));
  await addStarting(before, work, { assets, policies, firstEvents });
  const now = await evaluateAssets(tx, tenantId, assets, policies, nowMs);
  await storeVerdicts(tx, tenantId, now);
  const changes: Change[] = [];
  for (const verdict of now) {
    const known = before.get(keyOf(verdict));
    before.delete(keyOf(verdict));
    if (!known && !isScanned(work, verdict) && !firstEvents.has(verdict.assetId)) continue;
    changes.push({ verdict, before: known ? statusOf(known) : 'NOT_APPLICABLE', now: statusOf(verdict) });
  }
  // What is left are verdicts of policies that do not apply any more.
  const gone = [...before.values()];
  await deleteVerdicts(tx, tenantId, gone);
  for (const verdict of gone) changes.push({ verdict, before: statusOf(verdict), now: 'NOT_APPLICABLE' });
  await queueNotices(tx, work.deps.ids, {
    tenantId,
    eventType: 'compliance.changed',
    about: changes.flatMap((change) => noticeOf(change, nowMs)),
    createdAt: new Date(nowMs),
  });
}

/** Where a policy's first evaluation has stored no verdict yet: adds the one just before the asset's first new event. */
async function addStarting(
  before: Map<string, StoredVerdict>,
  work: Work,
  { assets, policies, firstEvents }: Evaluated,
): Promise<void> {
  for (const asset of assets) {
    const at = firstEvents.get(asset.assetId);
    if (at === undefined) continue;
    const open = policies.filter(({ policyId }) => {
      const pair = { policyId, assetId: asset.assetId };
      return !isScanned(work, pair) && !before.has(keyOf(pair));
    });
    for (const verdict of await startingVerdicts(work.tx, asset, open, at)) before.set(keyOf(verdict), verdict);
  }
}

interface Change {
  readonly verdict: StoredVerdict;
  readonly before: Status;
  readonly now: Status;
}

type Status = 'COMPLIANT' | 'NOT_COMPLIANT' | 'NOT_APPLICABLE';

type Pair = Pick<StoredVerdict, 'policyId' | 'assetId'>;

const keyOf = ({ policyId, assetId }: Pair): string => `${policyId} ${assetId}`;

/** Whether the first evaluation of the policy has reached the asset. */
function isScanned({ unscanned }: Work, { policyId, assetId }: Pair): boolean {
  const after = unscanned.get(policyId);
  return after === undefined || assetId <= after;
}

const statusOf = ({ compliant }: StoredVerdict): Status => (compliant ? 'COMPLIANT' : 'NOT_COMPLIANT');

/** An asset to which a policy does not apply is compliant, so this is no change between the two. */
function noticeOf({ verdict: { policyId, assetId }, before, now }: Change, nowMs: number): Notice[] {
  if ((before === 'NOT_COMPLIANT') === (now === 'NOT_COMPLIANT')) return [];
  const data = {
    compliance_policy_identity: policyIdentity(policyId),
    asset_identity: `assets/${assetId}`,
    compliance_status: now,
    previous_status: before,
    compliant_at: timestampOf(nowMs),
  };
  return [{ readers: { assetId }, data }];
}
