import { checkPolicy } from '../archivist/compliance/check-policy.js';
import { type ComplianceEvent, complianceEvent } from '../archivist/compliance/compliance-check.js';
import type { CompliancePolicy } from '../archivist/compliance/compliance-policy.js';
import { parsePolicyFilter } from '../filter/attribute-filter.js';
import { matchesAttributeFilter } from '../filter/matches.js';
import type { ReadJson } from './event-stream.js';
import { type Json, memberOf, textOf } from './json-members.js';
import { readList } from './read-list.js';

/** A policy as the service answers it. */
export type Policy = CompliancePolicy & { readonly identity: string };

/** An asset that policies may apply to. */
interface CheckedAsset {
  /** Its UUID. */
  readonly id: string;
  readonly name: string;
  readonly attributes: Json;
  /** Of the display types that policies name, oldest first. */
  readonly events: readonly ComplianceEvent[];
  /** Unix milliseconds, from its id. */
  readonly createdMs: number;
}

/** All that verdicts are made from. */
export interface ComplianceData {
  readonly policies: readonly Policy[];
  readonly assets: readonly CheckedAsset[];
  /** Nothing was left out because there is too much of it. */
  readonly isWhole: boolean;
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

const MOST_POLICIES = 1000;
const MOST_ASSETS = 5000;
const MOST_EVENTS = 20_000;
/** Looking further back for when something began costs more than it tells. */
const MOST_STEPS = 500;

/**
 * Reads policies, assets and events that the reader may see. The verdicts over them are made in the page, by the code that
 * the service runs: so any moment can be asked for without a request for each asset.
 * @throws {Unanswered}
 */
export async function readCompliance(read: ReadJson): Promise<ComplianceData> {
  const [policies, assets] = await Promise.all([
    readList(read, '/archivist/v1/compliance_policies', 'compliance_policies', MOST_POLICIES),
    readList(read, '/archivist/v2/assets', 'assets', MOST_ASSETS),
  ]);
  const named = (policies.items as unknown as Policy[]).flatMap((policy) => [
    policy.event_display_type,
    policy.closing_event_display_type,
  ]);
  const types = [...new Set(named)].filter((name) => name !== '');
  const lists = await Promise.all(
    types.map((name) => {
      const query = new URLSearchParams([['event_attributes.arc_display_type', name]]);
      return readList(read, `/archivist/v2/assets/-/events?${query}`, 'events', MOST_EVENTS);
    }),
  );
  const events = eventsByAsset(lists.flatMap(({ items }) => items));
  return {
    policies: policies.items as unknown as Policy[],
    assets: assets.items.map((asset) => checkedAsset(asset, events)),
    isWhole: [policies, assets, ...lists].every(({ isWhole }) => isWhole),
  };
}

function eventsByAsset(events: readonly Json[]): ReadonlyMap<string, ComplianceEvent[]> {
  const found = new Map<string, ComplianceEvent[]>();
  for (const event of events) {
    const asset = /^assets\/([^/]+)\//.exec(textOf(event['identity']))?.[1] ?? '';
    const attributes = (event['event_attributes'] ?? {}) as Json;
    const one = complianceEvent(attributes, Date.parse(textOf(event['timestamp_accepted'])));
    const others = found.get(asset);
    if (others) others.push(one);
    else found.set(asset, [one]);
  }
  for (const list of found.values()) list.sort((left, right) => left.acceptedAtMs - right.acceptedAtMs);
  return found;
}

function checkedAsset(asset: Json, events: ReadonlyMap<string, ComplianceEvent[]>): CheckedAsset {
  const id = textOf(asset['identity']).replace(/^assets\//, '');
  const attributes = (asset['attributes'] ?? {}) as Json;
  const name = memberOf(attributes, 'arc_display_name') ?? memberOf(attributes, 'subject');
  // UUIDs of version 7 begin with their time.
  const createdMs = Number.parseInt(id.replace('-', '').slice(0, 12), 16);
  return { id, name: typeof name === 'string' ? name : id, attributes, events: events.get(id) ?? [], createdMs };
}

/** The assets that a policy applies to. */
export function assetsOf(policy: Policy, { assets }: ComplianceData): CheckedAsset[] {
  const filter = parsePolicyFilter(policy.asset_filter, { field: 'asset_filter', prefix: 'attributes.' });
  return assets.filter(({ attributes }) => matchesAttributeFilter(filter, attributes));
}

/** The verdict at a moment, over what was recorded until then. Attributes of the asset are those of now. */
function verdictAt(policy: Policy, asset: CheckedAsset, atMs: number) {
  const { events, attributes } = asset;
  return checkPolicy(policy, { events, assetAttributes: attributes, compliantAtMs: atMs, readable: true });
}

/** The verdict of a policy over an asset that it applies to, with the time since which it fails. */
export function judge(policy: Policy, asset: CheckedAsset, nowMs: number): AssetVerdict {
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

/** How many assets fail a policy at each of these moments, among those that existed then. */
export function failingAt(policy: Policy, assets: readonly CheckedAsset[], moments: readonly number[]): number[] {
  return moments.map(
    (ms) => assets.filter((asset) => asset.createdMs <= ms && !verdictAt(policy, asset, ms).compliant).length,
  );
}
