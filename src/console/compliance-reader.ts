import { type ComplianceEvent, complianceEvent } from '../archivist/compliance/compliance-check.js';
import { assetsOf, type CheckedAsset, type Policy } from './compliance.js';
import type { ReadJson } from './event-stream.js';
import { type Json, memberOf, textOf } from './json-members.js';
import { type ListReader, listReader } from './list-reader.js';
import { readList } from './read-list.js';

/** What a step of reading adds, and how far the steps have come. */
export interface ComplianceStep {
  readonly policies: readonly Policy[];
  /** Those to which a policy applies, newest first, each with all of its events. Older than those of earlier steps. */
  readonly assets: readonly CheckedAsset[];
  /** Assets that all steps have looked at. */
  readonly assetCount: number;
  /** Events of the types that policies name, read by all steps. */
  readonly eventCount: number;
  /** Assets that were read, but not all of their events: a later step looks at them. */
  readonly waiting: number;
  /** Every asset was looked at. */
  readonly isWhole: boolean;
}

const MOST_AT_ONCE = 5000;
/** Events of each type that a step reads for each of its assets at most, on average. */
const EVENTS_PER_ASSET = 4;
/** The clocks of a service's machines may differ by so much (`archivist.out_of_step`). */
const CLOCKS_MS = 5000;

/** How many assets a step reads: as many as the page's address asks for, or the most. */
export function atOnceOf(pageSize: string | null): number {
  const wanted = Number(pageSize);
  return Number.isInteger(wanted) && wanted > 0 ? Math.min(wanted, MOST_AT_ONCE) : MOST_AT_ONCE;
}

/** The events of one type, and how far back they were read. */
interface EventList {
  readonly list: ListReader;
  /** When the oldest event that was read was made, Unix milliseconds. */
  backToMs: number;
}

/**
 * Reads policies, assets and events that the reader may see, a step at a time, the newest assets first. An asset's
 * events are younger than the asset: so a step reads them back to the time of its oldest asset, and an asset is looked
 * at when all of its events are there. The verdicts are made in the page, by the code that the service runs: so any
 * moment can be asked for without a request for each asset.
 * @param atOnce assets that a step reads
 * @returns a function that takes the next step; one that failed can be repeated. @throws {Unanswered}
 */
export function complianceReader(read: ReadJson, atOnce: number): () => Promise<ComplianceStep> {
  const assets = listReader(read, '/archivist/v2/assets', 'assets');
  const events = new Map<string, ComplianceEvent[]>();
  let policies: readonly Policy[] | undefined;
  let lists: readonly EventList[] = [];
  let waiting: Json[] = [];
  let assetCount = 0;
  let eventCount = 0;

  async function readAssets(): Promise<void> {
    while (waiting.length < atOnce && assets.hasMore()) waiting.push(...(await assets.next(atOnce - waiting.length)));
  }

  async function readBack(of: EventList, untilMs: number): Promise<void> {
    let left = atOnce * EVENTS_PER_ASSET;
    while (of.list.hasMore() && of.backToMs >= untilMs && left > 0) {
      const page = await of.list.next(left);
      for (const event of page) keep(event, events);
      of.backToMs = Math.min(of.backToMs, ...page.map(madeMs));
      eventCount += page.length;
      left -= page.length;
    }
  }

  return async () => {
    [policies] = await Promise.all([policies ?? readPolicies(read), readAssets()]);
    if (lists.length === 0) lists = eventLists(read, policies);
    const oldestMs = Math.min(...waiting.map(madeMs));
    if (waiting.length > 0) await allEnded(lists.map((list) => readBack(list, oldestMs - CLOCKS_MS)));
    const open = lists.filter(({ list }) => list.hasMore());
    const isReady = (asset: Json) => open.every(({ backToMs }) => backToMs < madeMs(asset) - CLOCKS_MS);
    const ready = waiting.filter(isReady).map((asset) => checkedAsset(asset, events));
    waiting = waiting.filter((asset) => !isReady(asset));
    assetCount += ready.length;
    return {
      policies,
      assets: withPolicy(policies, ready),
      assetCount,
      eventCount,
      waiting: waiting.length,
      isWhole: waiting.length === 0 && !assets.hasMore(),
    };
  };
}

/** Fails only when all have ended: a step that is repeated must not read a list beside the one that failed. */
async function allEnded(work: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(work)).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}

async function readPolicies(read: ReadJson): Promise<readonly Policy[]> {
  const path = '/archivist/v1/compliance_policies';
  const { items } = await readList(read, path, 'compliance_policies');
  return items as unknown as readonly Policy[];
}

/** One list for each display type that a policy names. */
function eventLists(read: ReadJson, policies: readonly Policy[]): EventList[] {
  const named = policies.flatMap((policy) => [policy.event_display_type, policy.closing_event_display_type]);
  const types = [...new Set(named)].filter((name) => name !== '');
  return types.map((name) => {
    const query = new URLSearchParams([['event_attributes.arc_display_type', name]]);
    const list = listReader(read, `/archivist/v2/assets/-/events?${query}`, 'events');
    return { list, backToMs: Number.POSITIVE_INFINITY };
  });
}

/** When an asset or an event was made: UUIDs of version 7 begin with their time, and order the lists. */
function madeMs(entry: Json): number {
  const id = textOf(entry['identity']).split('/').at(-1)!;
  return Number.parseInt(id.replace('-', '').slice(0, 12), 16);
}

function keep(event: Json, events: Map<string, ComplianceEvent[]>): void {
  const asset = /^assets\/([^/]+)\//.exec(textOf(event['identity']))?.[1] ?? '';
  const attributes = (event['event_attributes'] ?? {}) as Json;
  const one = complianceEvent(attributes, Date.parse(textOf(event['timestamp_accepted'])));
  const others = events.get(asset);
  if (others) others.push(one);
  else events.set(asset, [one]);
}

/** The asset with its events, which nothing else needs. */
function checkedAsset(asset: Json, events: Map<string, ComplianceEvent[]>): CheckedAsset {
  const id = textOf(asset['identity']).replace(/^assets\//, '');
  const attributes = (asset['attributes'] ?? {}) as Json;
  const name = memberOf(attributes, 'arc_display_name') ?? memberOf(attributes, 'subject');
  const own = events.get(id) ?? [];
  events.delete(id);
  own.sort((left, right) => left.acceptedAtMs - right.acceptedAtMs);
  return { id, name: typeof name === 'string' ? name : id, attributes, events: own, createdMs: madeMs(asset) };
}

/** No table shows the others. */
function withPolicy(policies: readonly Policy[], assets: readonly CheckedAsset[]): CheckedAsset[] {
  const shown = new Set(policies.flatMap((policy) => assetsOf(policy, assets)));
  return assets.filter((asset) => shown.has(asset));
}
