import { type Amounts, openMeter } from '../../iam/tenancies/quota.js';
import type { Quotas } from '../../iam/tenancies/quotas.js';
import { walletAddresses } from '../../iam/tenancies/tenancy-store.js';
import { addRegistrants } from '../../ledger/registrant-store.js';
import { releaseRegistrations } from '../../ledger/registration-store.js';
import type { Clock } from '../../platform/clock.js';
import { ApiError } from '../../platform/errors.js';
import type { Ids } from '../../platform/ids.js';
import { loopTurn } from '../../platform/loop-turn.js';
import type { Decided, SqlStatement, Tx } from '../../platform/postgres/database.js';
import { executeAll } from '../../platform/postgres/execute-all.js';
import type { Asset } from '../assets/asset.js';
import { assetKey, findAssets } from '../assets/asset-store.js';
import { holdWindowsOpen } from '../chain/anchor-store.js';
import type { Deployment } from '../deployment.js';
import { releaseClaims } from '../idempotency/idempotency-store.js';
import type { StatementAssetRef } from '../registrations/statement-asset-store.js';
import { applyChanges } from './apply-changes.js';
import { type AwaitedStatements, awaitedStatements } from './awaited-statements.js';
import { attachedBlobs } from './check-attachments.js';
import { type Draft, draftOf, nextOf, type Placed, sameAs } from './draft.js';
import { grantsForBatch } from './grants-for-batch.js';
import { registersInHaltedLog } from './halted-target.js';
import { insertsOfPlans } from './inserts-of-plans.js';
import { type LogWithWork, logsOf } from './logs-of-plans.js';
import { orderOfChanges } from './order-of-changes.js';
import { type BatchContext, type Plan, type PlanContext, planStatementAsset } from './plan.js';
import { registrantsOfBatch } from './registrants-of-batch.js';
import { acceptAsNew, claimAsNew, settleClaims } from './settle-claims.js';
import {
  type EventPlace,
  placeOfEvents,
  statementAssetKey,
  statementAssetsForBatch,
} from './statement-assets-for-batch.js';
import type { Outcome, Submission } from './submission.js';

export interface AcceptDeps {
  readonly deployment: Deployment;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly quotas: Quotas;
  /** Whether a log is halted: what it could never commit is refused. */
  readonly halted: (logId: string) => boolean;
  /** Wallet addresses never change, so they are cached by tenancy. */
  readonly wallets: Map<string, string>;
  /** Stored assets for registered statements by tenancy and variant, with what never changes of them either. */
  readonly statementAssets: Map<string, EventPlace>;
}

const METERED = ['assets', 'events', 'asset_free_events'] as const;

/**
 * A batch's outcomes in the order of its submissions, the logs that now have work to do, and what callers wait for in some
 * of them.
 */
interface BatchResult {
  readonly outcomes: Outcome[];
  /** A key or a statement was claimed before. */
  readonly hasRepeats: boolean;
  readonly logs: LogWithWork[];
  readonly awaited: AwaitedStatements[];
}

/**
 * Decides on a batch of submissions and writes it in one transaction, with a fixed small number of SQL statements; the
 * last of them are left to be sent with the commit.
 * A refused submission writes nothing and does not affect the others. Two submissions with the same idempotency key
 * create one resource.
 * @param takesAsNew whether keys and statements may be taken to be new, so that the batch need not wait for an answer: if
 *   one is not, the statements that are left to be sent fail with {ClaimedBefore}
 */
export async function acceptBatch(
  tx: Tx,
  deps: AcceptDeps,
  submissions: readonly Submission[],
  takesAsNew = false,
): Promise<Decided<BatchResult>> {
  const { context, made } = await planContext(
    tx,
    deps,
    submissions.filter((submission) => !registersInHaltedLog(submission, deps)),
  );
  const outcomes: Outcome[] = new Array(submissions.length);
  const drafts: Draft[] = [];
  const leaders = new Map<string, Draft>();
  const drafted = (each: Placed) => draftOf(each, context, deps, outcomes);
  for (const [index, submission] of submissions.entries()) {
    await loopTurn();
    const key = sameAs(submission);
    const leader = key === undefined ? undefined : leaders.get(key);
    leader?.followers.push({ index, submission });
    if (leader) continue;
    const draft = drafted({ index, submission });
    if (!draft) continue;
    drafts.push(draft);
    if (key !== undefined) leaders.set(key, draft);
  }
  const plans = [...made];
  let hasRepeats = false;
  const isGuess = takesAsNew && mayGuess(drafts, deps.quotas);
  if (isGuess) {
    acceptAsNew(drafts, outcomes);
    plans.push(...drafts.map((draft) => draft.plan));
  }
  for (let asking = isGuess ? [] : drafts; asking.length > 0; ) {
    const fresh = await settleClaims(tx, asking, outcomes, new Date(context.nowMs));
    hasRepeats ||= fresh.length < asking.length;
    const refused = await refuseOverQuota(tx, deps.quotas, fresh, outcomes);
    plans.push(...fresh.filter((draft) => !refused.has(draft)).map((draft) => draft.plan));
    asking = [...refused].flatMap((draft) => nextOf(draft, drafted));
  }
  const claims = isGuess ? claimAsNew(drafts, new Date(context.nowMs)) : [];
  const written = await writePlans(tx, plans, context);
  const statements = oneAfterAnother(claims, written, addRegistrants(registrantsOfBatch(submissions, outcomes)));
  return { result: { outcomes, hasRepeats, logs: logsOf(plans), awaited: awaitedStatements(plans) }, statements };
}

/** What planning reads. Assets for statements are created here first, where they are missing. */
async function planContext(
  tx: Tx,
  deps: AcceptDeps,
  submissions: readonly Submission[],
): Promise<{ context: PlanContext; made: readonly Plan[] }> {
  const wanted = new Map<string, { tenantId: string; assetId: string }>();
  const unknownWallets = new Set<string>();
  for (const submission of submissions) {
    const { tenantId } = submission.principal;
    if (!deps.wallets.has(tenantId)) unknownWallets.add(tenantId);
    if (submission.kind === 'asset_event') {
      const asset = { tenantId, assetId: submission.assetId };
      wanted.set(assetKey(asset), asset);
    }
  }
  if (unknownWallets.size > 0) {
    for (const [tenantId, address] of await walletAddresses(tx, [...unknownWallets]))
      deps.wallets.set(tenantId, address);
  }
  const taken = await statementAssetsForBatch(
    tx,
    deps,
    submissions.filter(({ principal }) => deps.wallets.has(principal.tenantId)),
  );
  const order = await orderOfChanges(tx, deps.ids, submissions);
  const found = await findAssets(tx, [...wanted.values(), ...taken.filter((each) => !each.fresh)]);
  const assets = new Map(found.map((asset) => [assetKey(asset), asset]));
  const anchored = tenanciesWithAnchors(submissions, found, deps.deployment);
  // No event enters a closed window: if this node's clock is behind, the event is dated a little later.
  const openSince = anchored.length === 0 ? 0 : (await holdWindowsOpen(tx, anchored)).getTime();
  const batch: BatchContext = {
    deployment: deps.deployment,
    nowMs: Math.max(order.dated(deps.clock.now()), openSince),
    uuid: () => deps.ids.uuid(),
    eventId: order.eventId,
    wallet: (tenantId) => {
      const address = deps.wallets.get(tenantId);
      if (address === undefined) throw new ApiError('unauthorized', 'The tenancy of this token does not exist.');
      return address;
    },
    asset: (tenantId, assetId) => assets.get(assetKey({ tenantId, assetId })),
    blob: await attachedBlobs(tx, submissions),
    grants: await grantsForBatch(tx, submissions, assets),
  };
  const made = taken.filter((each) => each.fresh).map((each) => planStatementAsset(each, batch));
  const fresh = new Map(made.map(({ asset }) => [statementAssetKey(asset), asset]));
  for (const each of taken) {
    const asset = assets.get(assetKey(each));
    if (asset) deps.statementAssets.set(statementAssetKey(each), placeOfEvents(asset));
  }
  const statementAsset = (ref: StatementAssetRef) => {
    const key = statementAssetKey(ref);
    return (deps.statementAssets.get(key) ?? fresh.get(key))!;
  };
  return { context: { ...batch, statementAsset }, made };
}

/** The tenancies in which this batch may write events that an anchor will cover. */
function tenanciesWithAnchors(
  submissions: readonly Submission[],
  found: readonly Asset[],
  { publicTenancy }: Deployment,
): string[] {
  const made = submissions.flatMap((each) =>
    each.kind === 'asset' ? [{ ...each, tenantId: each.principal.tenantId }] : [],
  );
  const tenancies = [...found, ...made].flatMap((asset) => {
    if (asset.proofMechanism !== 'SIMPLE_HASH') return [];
    return asset.public ? [asset.tenantId, publicTenancy] : [asset.tenantId];
  });
  return [...new Set(tenancies)];
}

/** What waits for another answer anyway gains nothing, and would lock its rows in another order. */
function mayGuess(drafts: readonly Draft[], quotas: Quotas): boolean {
  return METERED.every((name) => quotas[name] === undefined) && drafts.every(({ plan }) => plan.changes.length === 0);
}

/** Refuses what fits no quota, releases its idempotency keys, and returns it. */
async function refuseOverQuota(
  tx: Tx,
  quotas: Quotas,
  drafts: readonly Draft[],
  outcomes: Outcome[],
): Promise<ReadonlySet<Draft>> {
  const tenants = [...new Set(drafts.map(({ submission }) => submission.principal.tenantId))];
  const meter = await openMeter(tx, quotas, tenants, METERED);
  const refused = new Set<Draft>();
  if (!meter) return refused;
  for (const draft of drafts) {
    const { tenantId } = draft.submission.principal;
    try {
      meter.take(tenantId, amountsOf(draft.plan, tenantId));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      refused.add(draft);
      for (const { index } of [draft, ...draft.followers])
        if ('accepted' in outcomes[index]!) outcomes[index] = { refused: error };
    }
  }
  await meter.save();
  await releaseClaims(
    tx,
    [...refused].flatMap(({ submission }) => submission.idempotency ?? []),
  );
  await releaseRegistrations(
    tx,
    [...refused].flatMap(({ plan: { registration } }) => registration?.row ?? []),
  );
  return refused;
}

/** Public forms belong to the public tenancy and are not counted. */
function amountsOf(plan: Plan, tenantId: string): Amounts {
  const own = (rows: readonly { readonly tenantId: string }[]) =>
    rows.filter((row) => row.tenantId === tenantId).length;
  return { assets: own(plan.assets), events: own(plan.assetEvents), asset_free_events: own(plan.assetFreeEvents) };
}

/** Returns the inserts that are still to be sent: all of them, unless one of the plans changes an asset. */
async function writePlans(tx: Tx, plans: readonly Plan[], batch: BatchContext): Promise<Iterable<SqlStatement>> {
  const changes = plans.flatMap((each) => each.changes);
  if (changes.length === 0) return insertsOfPlans(plans);
  await executeAll(tx, insertsOfPlans(plans));
  await applyChanges(tx, batch, changes);
  return [];
}

function* oneAfterAnother(...lists: readonly Iterable<SqlStatement>[]): Iterable<SqlStatement> {
  for (const list of lists) yield* list;
}
