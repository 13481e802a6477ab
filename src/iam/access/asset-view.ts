import type { AttributeFilter } from '../../filter/attribute-filter.js';
import { matchesAttributeFilter } from '../../filter/matches.js';
import type { Principal } from '../../platform/http/principal.js';
import { type Grant, has, isEmpty, type Showing, shows } from './grant.js';
import { type Created, createdBy, isOwner } from './owner-and-creator.js';
import type { PastShowing } from './past-grant.js';

/** The facts about an asset that the decision uses; attributes with their current values. */
export interface AssetResource extends Created {
  readonly tenantId: string;
  readonly public: boolean;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** The facts about an event of that asset that the decision uses. */
interface EventResource {
  readonly principalAccepted: { readonly issuer: string; readonly subject: string };
  readonly eventAttributes: Readonly<Record<string, unknown>>;
  readonly assetAttributes: Readonly<Record<string, unknown>>;
  readonly acceptedAt: Date;
}

/** What a caller wants to record on an asset. */
interface Recording {
  readonly behaviour: string;
  readonly eventAttributes: Readonly<Record<string, unknown>>;
  readonly assetAttributes: Readonly<Record<string, unknown>>;
}

/** What one principal sees of one asset, and may do to it. */
export interface AssetView {
  /** The principal can read the asset. */
  readonly visible: boolean;
  /**
   * Nothing of it is hidden, now or in its past: true for Owners and its creator. Every other permission shows a part.
   */
  readonly whole: boolean;
  /** True if at least one kind of event may be recorded. */
  readonly records: boolean;
  /** Set if only ended shares show the asset: nothing after this instant is shown. */
  readonly asOf?: Date;
  /**
   * The ends of shares of which something is shown as it was, each once. Of what several shares showed, only the last
   * end counts.
   */
  readonly pastTimes: readonly Date[];
  /** Of which instant the principal reads the attribute; undefined if it does not read it. */
  attributeTime(name: string): 'now' | Date | undefined;
  readsBehaviour(behaviour: string): boolean;
  readsEvent(event: EventResource): boolean;
  /** True if the event's change of this attribute of the asset is shown. */
  readsChange(event: EventResource, name: string): boolean;
  /**
   * True if a readable event is shown in full: to its creator, and to readers of everything that it changed on the
   * asset.
   */
  readsWholeEvent(event: EventResource): boolean;
  /** Why this may not be recorded; undefined if it may. */
  refusal(recording: Recording): string | undefined;
}

/**
 * The one rule about assets and their events (docs/design/README.md#promises). Owners and creators may do everything in
 * their own tenancy, others only what policies grant. Policies match no public asset, because anybody may read its
 * public form, and they let no other tenancy write. A share that ended keeps showing what it showed until then. The
 * visibility stores have the same rule for lists.
 * @param past what ended shares show of this asset
 */
export function assetView(
  principal: Principal,
  asset: AssetResource,
  grants: readonly Grant[],
  past: readonly PastShowing[] = [],
): AssetView {
  const inOwnTenancy = asset.tenantId === principal.tenantId;
  const whole = inOwnTenancy && (isOwner(principal) || createdBy(principal, asset));
  const given = whole ? [] : grants.filter(reaching(asset));
  const recording = inOwnTenancy ? given.filter((grant) => !isEmpty(grant.kindsRecorded)) : [];
  const readsNow = (name: string) => whole || given.some((grant) => has(grant.attributesRead, name));
  const readsChange = (event: EventResource, name: string) =>
    readsNow(name) || past.some((each) => event.acceptedAt <= each.until && has(each.attributesRead, name));
  const visibleNow = whole || given.some(shows);
  const asOf = visibleNow ? undefined : latest(past.filter(shows));
  const last = lastEnds(past);
  const readsAll = whole || given.some(({ attributesRead }) => attributesRead === 'all');
  const recordedIt = ({ principalAccepted: { issuer, subject } }: EventResource) =>
    inOwnTenancy && createdBy(principal, { creatorIssuer: issuer, creatorSubject: subject });
  return {
    visible: visibleNow || asOf !== undefined,
    whole,
    records: whole || recording.length > 0,
    ...(asOf && { asOf }),
    pastTimes: once([
      ...[...last.ofName].flatMap(([name, end]) => (readsNow(name) ? [] : end)),
      ...(last.ofOthers && !readsAll ? [last.ofOthers] : []),
      ...(asOf ? [asOf] : []),
    ]),
    attributeTime: (name) => (readsNow(name) ? 'now' : (last.ofName.get(name) ?? last.ofOthers)),
    readsBehaviour: (behaviour) => whole || [...given, ...past].some((each) => has(each.behaviours, behaviour)),
    readsEvent(event) {
      if (whole || recordedIt(event)) return true;
      const kind = kindOf(event.eventAttributes);
      const shows = ({ kindsRead }: Showing) => kindsRead === 'all' || (kind !== undefined && kindsRead.has(kind));
      return given.some(shows) || past.some((each) => event.acceptedAt <= each.until && shows(each));
    },
    readsChange,
    readsWholeEvent: (event) =>
      whole || recordedIt(event) || Object.keys(event.assetAttributes).every((name) => readsChange(event, name)),
    refusal: (wanted) => (whole ? undefined : refusalOf(wanted, recording)),
  };
}

function latest(past: readonly PastShowing[]): Date | undefined {
  return past.reduce<Date | undefined>((last, { until }) => (last && last >= until ? last : until), undefined);
}

/** The end of the last share that showed an attribute; `ofOthers` for the names that are not listed. */
function lastEnds(past: readonly PastShowing[]): { ofName: ReadonlyMap<string, Date>; ofOthers: Date | undefined } {
  const ofName = new Map<string, Date>();
  for (const { attributesRead, until } of past.toSorted((one, other) => other.until.getTime() - one.until.getTime())) {
    // Of anything that an earlier share showed, this one is the last.
    if (attributesRead === 'all') return { ofName, ofOthers: until };
    for (const name of attributesRead) if (!ofName.has(name)) ofName.set(name, until);
  }
  return { ofName, ofOthers: undefined };
}

function once(times: readonly Date[]): Date[] {
  return [...new Map(times.map((time) => [time.getTime(), time])).values()];
}

/** Tells whether the policy of a grant matches the asset; the filter that grants share is evaluated once. */
function reaching(asset: AssetResource): (grant: Grant) => boolean {
  const matched = new Map<AttributeFilter, boolean>();
  return ({ tenantId, filter }) => {
    if (tenantId !== asset.tenantId || asset.public) return false;
    const known = matched.get(filter) ?? matchesAttributeFilter(filter, asset.attributes);
    matched.set(filter, known);
    return known;
  };
}

/** The kind of an event, which policies name; undefined if it has no kind. */
function kindOf(eventAttributes: Readonly<Record<string, unknown>>): string | undefined {
  const kind = eventAttributes['arc_display_type'];
  return typeof kind === 'string' ? kind : undefined;
}

function refusalOf(wanted: Recording, grants: readonly Grant[]): string | undefined {
  const kind = kindOf(wanted.eventAttributes);
  const fitting = grants.filter(({ kindsRecorded }) =>
    kind === undefined ? kindsRecorded === 'all' : has(kindsRecorded, kind),
  );
  if (fitting.length === 0)
    return 'event_attributes.arc_display_type: no access policy lets you record this kind of event here';
  if (!fitting.some((grant) => has(grant.behaviours, wanted.behaviour)))
    return 'behaviour: no access policy lets you record with this behaviour here';
  const refused = Object.keys(wanted.assetAttributes).find(
    (name) => !grants.some((grant) => has(grant.attributesWritten, name)),
  );
  return refused === undefined ? undefined : `asset_attributes.${refused}: no access policy lets you change it`;
}
