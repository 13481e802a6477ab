import { concatBytes } from '../bytes.js';
import { LAST_TIME_MS } from '../last-time.js';
import { idtimestampMs, parseIdtimestampHex } from '../massif/idtimestamp.js';
import type { Mutable } from '../mutable.js';
import { type AssetFreeEventDocument, type EventDocument, isAssetEvent } from '../statement/event-document.js';
import { JCS_DIGEST_ATTRIBUTE } from '../statement/vcon-template.js';
import type { Claim, Facts, Proof } from './claim.js';
import { type CoveredBytes, covering } from './covered-bytes.js';
import { type Findings, notCovered } from './verdict.js';
import { eventAttributes, eventCommit, eventLeaf } from './verify-event.js';

const TEMPLATE = {
  operation: 'vcon_operation',
  subject: 'subject',
  payload_hash: 'payload',
  payload_hash_alg: 'payload_hash_alg',
  payload_jcs_sha256: JCS_DIGEST_ATTRIBUTE,
  payload_content_type: 'payload_preimage_content_type',
  payload_location: 'payload_location',
} as const satisfies Partial<Record<keyof Facts, string>>;
const TEMPLATE_FACTS = Object.entries(TEMPLATE) as [keyof typeof TEMPLATE, string][];

/** Members of an event that its leaf does not cover although a frozen event has them. */
export const OPEN_ASSET_FREE_MEMBERS = ['identity', 'event_type', 'created_by', 'created_at'] as const;

const VCON = /^vcon:\/\/([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/i;

/** Returns the uuid of the vCon that a subject names; undefined if the subject is not of the form `vcon://<uuid>`. */
export function vconOf(subject: unknown): string | undefined {
  return typeof subject === 'string' ? VCON.exec(subject)?.[1] : undefined;
}

/** Returns the uuid of the tenancy that an event belongs to. */
export function tenancyOfEvent(event: EventDocument): string {
  return (isAssetEvent(event) ? event.tenant_identity : event.origin_tenant).replace(/^tenant\//, '');
}

function templateFacts(attributes: Readonly<Record<string, unknown>>): Facts {
  const facts: Mutable<Pick<Facts, keyof typeof TEMPLATE | 'vcon'>> = {};
  for (const [fact, name] of TEMPLATE_FACTS) {
    const value = attributes[name];
    if (typeof value === 'string') facts[fact] = value;
  }
  const vcon = vconOf(attributes['subject']);
  if (vcon !== undefined) facts.vcon = vcon;
  return facts;
}

/** What a record covers of an asset-free event that its leaf does not. */
function recordedFacts({ identity, event_type, created_by, created_at }: AssetFreeEventDocument): Facts {
  const acceptedMs = /^[0-9]{1,15}$/.test(created_at) ? Number(created_at) : Number.NaN;
  const isTime = acceptedMs <= LAST_TIME_MS;
  return {
    identity,
    uuid: uuidOf(identity),
    ...(event_type === undefined ? {} : { event_type }),
    created_by,
    accepted: isTime ? new Date(acceptedMs).toISOString() : created_at,
  };
}

const uuidOf = (identity: string): string => identity.slice(identity.lastIndexOf('/') + 1);

/** What leaf and record of an asset-free event both cover. */
function assetFreeFacts(event: AssetFreeEventDocument): Facts {
  const { timestamp_declared: declared } = event.attributes;
  return {
    event_kind: 'asset_free',
    tenancy: tenancyOfEvent(event),
    ...templateFacts(event.attributes),
    ...(typeof declared === 'string' ? { declared } : {}),
    members: { attributes: event.attributes, trails: event.trails },
  };
}

/** What is covered of a frozen event, and nothing else of it. The caller has proven that a log holds its leaf. */
function eventFacts(event: EventDocument): Facts {
  const { epoch, id } = parseIdtimestampHex(eventCommit(event).idtimestamp);
  const committed = new Date(idtimestampMs(id, epoch)).toISOString();
  if (!isAssetEvent(event)) return { ...assetFreeFacts(event), committed };
  const { identity, operation, behaviour, event_attributes, asset_attributes } = event;
  const { principal_declared, principal_accepted, timestamp_committed } = event;
  return {
    identity,
    uuid: uuidOf(identity),
    event_kind: identity.startsWith('public') ? 'public' : 'asset',
    tenancy: tenancyOfEvent(event),
    committed,
    ...templateFacts(eventAttributes(event)),
    ...(principal_accepted ? { principal: principal_accepted } : {}),
    declared: event.timestamp_declared,
    accepted: event.timestamp_accepted,
    members: { operation, behaviour, event_attributes, asset_attributes, principal_declared, timestamp_committed },
  };
}

/** Returns the claim that follows if proofs cover an event's leaf, and what they leave open. */
export function provenEvent(event: EventDocument, by: readonly Proof[]): Partial<Findings> {
  const open = isAssetEvent(event) ? [] : OPEN_ASSET_FREE_MEMBERS.filter((name) => Object.hasOwn(event, name));
  return {
    claims: [leafClaim(event, by)],
    ...(open.length === 0 ? {} : notCovered('event', 'by_design', NO_LEAF, open)),
  };
}

const leafClaim = (event: EventDocument, by: readonly Proof[]): Claim => ({
  kind: 'event',
  piece: 'event',
  facts: eventFacts(event),
  by: by.map((proof) => (proof.type === 'inclusion' ? covering(proof, { leaf: () => leafBytes(event) }) : proof)),
});

/** The hashes of a leaf, with their input in place of their output. */
function leafBytes(event: EventDocument): CoveredBytes {
  const { leaf: bytes } = eventLeaf(event, (...parts) => concatBytes(...parts));
  return { bytes, prefix: isAssetEvent(event) ? 9 : 33, form: 'text' };
}

/**
 * Returns two claims about an asset-free event whose whole record a checked statement states: one about the record, and
 * one about the leaf. They are two because nothing covers both: the record is older than the place in the log, and the
 * leaf does not cover the identity.
 */
export function recordedEvent(
  event: AssetFreeEventDocument,
  by: { readonly record: readonly Proof[]; readonly leaf: readonly Proof[] },
): Partial<Findings> {
  const facts = { ...recordedFacts(event), ...assetFreeFacts(event) };
  const recorded: Claim = { kind: 'event', piece: 'event', facts, by: by.record };
  return {
    claims: [recorded, leafClaim(event, by.leaf)],
    ...notCovered('event', 'by_design', NO_PLACE, ['merklelog_commit']),
  };
}

const NO_PLACE =
  'the leaf does not cover the identity: another event of the tenancy with the same attributes and trails may stand at this place';

/**
 * Returns the finding that an event's JSON has members that no log covers.
 * @param json JSON that was read as this event
 */
export function uncoveredMembers(event: EventDocument, json: object): Partial<Findings> {
  const covered = isAssetEvent(event) ? COVERED.asset : COVERED.asset_free;
  const names = uncovered(json, covered, '').filter((name) => isAssetEvent(event) || !isOpenMember(name));
  return names.length === 0 ? {} : notCovered('event', 'by_design', NO_LEAF, names);
}

const isOpenMember = (name: string): boolean => OPEN_ASSET_FREE_MEMBERS.some((open) => open === name);

const NO_LEAF = 'no log covers these members of an event';

const COVERED: Readonly<Record<'asset' | 'asset_free', ReadonlySet<string>>> = {
  asset: new Set([
    'identity',
    'operation',
    'behaviour',
    'tenant_identity',
    'timestamp_declared',
    'timestamp_accepted',
    'timestamp_committed',
    'event_attributes',
    'asset_attributes',
    'principal_declared',
    'principal_accepted',
    'merklelog_entry',
    'merklelog_entry.commit',
    'merklelog_entry.commit.index',
    'merklelog_entry.commit.idtimestamp',
  ]),
  asset_free: new Set([
    'attributes',
    'trails',
    'origin_tenant',
    'merklelog_commit',
    'merklelog_commit.index',
    'merklelog_commit.idtimestamp',
  ]),
};
const COMMITS: ReadonlySet<string> = new Set(['merklelog_entry', 'merklelog_entry.commit', 'merklelog_commit']);

function uncovered(value: object, covered: ReadonlySet<string>, path: string): string[] {
  return Object.entries(value).flatMap(([name, member]: [string, unknown]) => {
    const place = `${path}${name}`;
    if (!covered.has(place)) return [place];
    return COMMITS.has(place) ? uncovered(member as object, covered, `${place}.`) : [];
  });
}
