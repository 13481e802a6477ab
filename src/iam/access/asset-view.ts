import { matchesAttributeFilter } from '../../filter/matches.js';
import type { Principal } from '../../platform/http/principal.js';
import { type Grant, has, isEmpty, shows } from './grant.js';
import { type Created, createdBy, isOwner } from './owner-and-creator.js';

/** What the decision looks at of an asset; attributes as they are now. */
export interface AssetResource extends Created {
  readonly tenantId: string;
  readonly public: boolean;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** What the decision looks at of an event of that asset. */
export interface EventResource {
  readonly principalAccepted: { readonly issuer: string; readonly subject: string };
  readonly eventAttributes: Readonly<Record<string, unknown>>;
  readonly assetAttributes: Readonly<Record<string, unknown>>;
}

/** What somebody wants to record on an asset. */
export interface Recording {
  readonly behaviour: string;
  readonly eventAttributes: Readonly<Record<string, unknown>>;
  readonly assetAttributes: Readonly<Record<string, unknown>>;
}

/** What one principal sees of one asset, and may do to it. */
export interface AssetView {
  /** Reading the asset finds it. */
  readonly visible: boolean;
  /** Nothing of it is hidden, now or in its past: Owners and its creator. What anything else gives is a part. */
  readonly whole: boolean;
  /** True when some kind of event may be recorded. */
  readonly records: boolean;
  readsAttribute(name: string): boolean;
  readsBehaviour(behaviour: string): boolean;
  readsEvent(event: EventResource): boolean;
  /** True when an event that is read is read whole: who recorded it, and who reads all that it changed on the asset. */
  readsWholeEvent(event: EventResource): boolean;
  /** Why this may not be recorded; undefined when it may. */
  refusal(recording: Recording): string | undefined;
}

/**
 * The one rule about assets and their events (docs/design/README.md#promises): everything to Owners and creators in their own tenancy,
 * what policies grant to others, and nothing else. Policies match no public asset, which anybody reads in its public form,
 * and let nobody of another tenancy write. `visibility-sql.ts` says the same of lists.
 */
export function assetView(principal: Principal, asset: AssetResource, grants: readonly Grant[]): AssetView {
  const inOwnTenancy = asset.tenantId === principal.tenantId;
  const whole = inOwnTenancy && (isOwner(principal) || createdBy(principal, asset));
  const given = whole ? [] : grants.filter((grant) => reaches(grant, asset));
  const recording = inOwnTenancy ? given.filter((grant) => !isEmpty(grant.kindsRecorded)) : [];
  const readsAttribute = (name: string) => whole || given.some((grant) => has(grant.attributesRead, name));
  const recordedIt = ({ principalAccepted: { issuer, subject } }: EventResource) =>
    inOwnTenancy && createdBy(principal, { creatorIssuer: issuer, creatorSubject: subject });
  return {
    visible: whole || given.some(shows),
    whole,
    records: whole || recording.length > 0,
    readsAttribute,
    readsBehaviour: (behaviour) => whole || given.some((grant) => has(grant.behaviours, behaviour)),
    readsEvent(event) {
      if (whole || recordedIt(event)) return true;
      const kind = kindOf(event.eventAttributes);
      return given.some(({ kindsRead }) => kindsRead === 'all' || (kind !== undefined && kindsRead.has(kind)));
    },
    readsWholeEvent: (event) => whole || recordedIt(event) || Object.keys(event.assetAttributes).every(readsAttribute),
    refusal: (wanted) => (whole ? undefined : refusalOf(wanted, recording)),
  };
}

/** True when the policy of the grant matches the asset. */
export function reaches(grant: Grant, asset: AssetResource): boolean {
  return grant.tenantId === asset.tenantId && !asset.public && matchesAttributeFilter(grant.filter, asset.attributes);
}

/** The kind of an event, which policies name; undefined for one that has none. */
export function kindOf(eventAttributes: Readonly<Record<string, unknown>>): string | undefined {
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
