import { checkPolicy } from '../archivist/compliance/check-policy.js';
import type { ComplianceEvent } from '../archivist/compliance/compliance-check.js';
import type { CompliancePolicy } from '../archivist/compliance/compliance-policy.js';
import { parsePolicyFilter } from '../filter/attribute-filter.js';
import { matchesAttributeFilter } from '../filter/matches.js';
import type { Json } from './json-members.js';

/** A policy as the service answers it. */
export type Policy = CompliancePolicy & { readonly identity: string };

/** An asset that policies may apply to. */
export interface CheckedAsset {
  /** Its UUID. */
  readonly id: string;
  readonly name: string;
  readonly attributes: Json;
  /** Of the display types that policies name, oldest first. */
  readonly events: readonly ComplianceEvent[];
  /** Unix milliseconds, from its id. */
  readonly createdMs: number;
}

/** The verdict of a policy over an asset. */
export interface AssetVerdict {
  readonly policy: Policy;
  readonly asset: CheckedAsset;
  readonly compliant: boolean;
  readonly reason: string;
  /** When it began to be outstanding, Unix milliseconds; undefined if it is not, or if nothing tells when it began. */
  readonly sinceMs: number | undefined;
}

/** A policy with its verdicts: the oldest failure first, then what is compliant. */
export interface Judged {
  readonly policy: Policy;
  readonly verdicts: readonly AssetVerdict[];
}

/** Looking further back for when something began costs more than it tells. */
const MOST_STEPS = 500;

/** The assets that a policy applies to. */
export function assetsOf(policy: Policy, assets: readonly CheckedAsset[]): CheckedAsset[] {
  const filter = parsePolicyFilter(policy.asset_filter, { field: 'asset_filter', prefix: 'attributes.' });
  return assets.filter(({ attributes }) => matchesAttributeFilter(filter, attributes));
}

/** The verdict at a moment, over what was recorded until then. Attributes of the asset are those of now. */
function verdictAt(policy: Policy, asset: CheckedAsset, atMs: number) {
  const { events, attributes } = asset;
  return checkPolicy(policy, { events, assetAttributes: attributes, compliantAtMs: atMs, readable: true });
}

/** Adds the verdicts of policies over more assets to those over others. */
export function judgeAlso(
  before: readonly Judged[],
  policies: readonly Policy[],
  assets: readonly CheckedAsset[],
  nowMs: number,
): Judged[] {
  return policies.map((policy, at) => {
    const added = assetsOf(policy, assets).map((asset) => judge(policy, asset, nowMs));
    return { policy, verdicts: inOrder([...(before[at]?.verdicts ?? []), ...added]) };
  });
}

/** The oldest failure first, then what is compliant. */
export function inOrder(verdicts: readonly AssetVerdict[]): AssetVerdict[] {
  const place = ({ compliant, sinceMs, asset }: AssetVerdict): number =>
    compliant ? Number.MAX_SAFE_INTEGER : (sinceMs ?? asset.createdMs);
  return [...verdicts].sort((left, right) => place(left) - place(right));
}

/** The verdict of a policy over an asset that it applies to, with the time since which it fails. */
function judge(policy: Policy, asset: CheckedAsset, nowMs: number): AssetVerdict {
  const { compliant, reason } = verdictAt(policy, asset, nowMs);
  return { policy, asset, compliant, reason, sinceMs: compliant ? undefined : failingSince(policy, asset, nowMs) };
}

/** A verdict changes only when an event was accepted, or when a period or a window ends after one. */
function failingSince(policy: Policy, asset: CheckedAsset, nowMs: number): number | undefined {
  if (policy.compliance_type === 'COMPLIANCE_RICHNESS') return undefined;
  const later = [0, Number(policy.time_period_seconds) * 1000 + 1, Number(policy.dynamic_window) * 1000 + 1];
  const moments = asset.events.flatMap(({ acceptedAtMs }) => later.map((ms) => acceptedAtMs + ms));
  const earlier = [...new Set([asset.createdMs, ...moments])].filter((ms) => ms >= asset.createdMs && ms <= nowMs);
  let since: number | undefined;
  for (const ms of earlier.sort((left, right) => right - left).slice(0, MOST_STEPS)) {
    if (verdictAt(policy, asset, ms).compliant) return since;
    since = ms;
  }
  return since;
}

/** How many assets fail at least one of the policies at each of these moments, among those that existed then. */
export function outstandingAt(
  policies: readonly Policy[],
  assets: readonly CheckedAsset[],
  moments: readonly number[],
): number[] {
  const rules = policies.map((policy) => ({ policy, covers: new Set(assetsOf(policy, assets)) }));
  const fails = (asset: CheckedAsset, ms: number): boolean =>
    rules.some(({ policy, covers }) => covers.has(asset) && !verdictAt(policy, asset, ms).compliant);
  return moments.map((ms) => assets.filter((asset) => asset.createdMs <= ms && fails(asset, ms)).length);
}
