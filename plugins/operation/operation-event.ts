import { TEMPLATE_VERSION } from '../../src/core/statement/vcon-template.js';
import type { CaptureMethod, Observation } from './capture-sequence.js';
import type { Operation } from './operation.js';
import { isListed } from './operation-vocabulary.js';
import type { VconFacts } from './vcon-facts.js';
import { DATE_TIME, VERSION } from './vcon-texts.js';

export type EventAttributes = Readonly<Record<string, string>>;

/** An operation as it is recorded in the log: the template's attributes and a few of ours. */
export interface OperationEvent {
  /** `vcon://<uuid>`; if the document has no uuid, a hash-based name (RFC 6920). */
  readonly subject: string;
  /** Hex SHA-256 of the vCon's bytes. */
  readonly payload: string;
  /** RFC 3339; undefined if no right time is known. The service then takes the time at which it accepts the event. */
  readonly timestampDeclared?: string | undefined;
  readonly attributes: EventAttributes;
  /** The tenancy that it is delivered for; undefined is the plugin's own client. */
  readonly tenancy?: string;
}

/** How an operation was captured. */
interface Capture {
  readonly method: CaptureMethod;
  readonly observed: Observation;
  /** UUID of the first vCon in this one's history. */
  readonly history?: string | undefined;
}

/** The drafts that the plugin follows: of the vCon core and of the SCITT architecture. */
export const DRAFT_VERSIONS = { vcon_draft_version: 'core-02', scitt_draft_version: '22' };
const CONTENT_TYPE = 'application/vcon+json';

/** The version member that the draft allows; it is optional. */
const CORE_VERSION = '0.4.0';
const UNKNOWN_DRAFT = 'unknown';

/** A UUIDv8 (RFC 9562) from a hex digest, for a record of our own that belongs to no vCon. */
export function uuidOfDigest(digest: string): string {
  const bytes = Buffer.from(digest.slice(0, 32), 'hex');
  bytes[6] = (bytes[6]! & 0x0f) | 0x80;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** The subject of a vCon's events. A document without a uuid is named by its hash, and gets no uuid. */
export function subjectOf({ uuid, payload }: Pick<VconFacts, 'uuid' | 'payload'>): string {
  return uuid ? `vcon://${uuid}` : `ni:///sha-256;${Buffer.from(payload, 'hex').toString('base64url')}`;
}

/** The draft that a document follows, as far as it can be told: older ones have a different version member. */
function draftOf({ form, vconMember = CORE_VERSION }: VconFacts): string {
  const readable = form === 'unsigned' || form === 'signed';
  return readable && vconMember === CORE_VERSION ? DRAFT_VERSIONS.vcon_draft_version : UNKNOWN_DRAFT;
}

interface DeclaredTime {
  readonly timestamp_declared: string;
  readonly timestamp_declared_source: 'updated_at' | 'created_at' | 'observed';
  readonly timestamp_declared_zone?: 'assumed_utc';
}

/** Date.parse also reads the 30th of February, an hour of 24 and any year. */
function isInstant(text: string): boolean {
  const [atMs, midnightMs] = [Date.parse(text), Date.parse(`${text.slice(0, 10)}T00:00:00Z`)];
  if (Number.isNaN(atMs) || Number.isNaN(midnightMs) || text.slice(11, 13) === '24') return false;
  const year = new Date(atMs).getUTCFullYear();
  return year >= 1 && year <= 9999 && new Date(midnightMs).toISOString().startsWith(text.slice(0, 10));
}

/** The vCon's own time, if it has a valid one; Python writes some without a zone and means UTC. */
function declaredTime(vcon: VconFacts, observed: string | undefined): DeclaredTime | undefined {
  const candidates = [
    ['updated_at', vcon.updatedAt],
    ['created_at', vcon.createdAt],
  ] as const;
  for (const [source, text] of candidates) {
    const [, date, time, zone] = DATE_TIME.exec(text ?? '') ?? [];
    const instant = `${date}T${time}${zone?.toUpperCase() ?? 'Z'}`;
    // The service would refuse any other, and with it the event.
    if (date === undefined || !isInstant(instant)) continue;
    return {
      timestamp_declared: instant,
      timestamp_declared_source: source,
      ...(zone === undefined ? { timestamp_declared_zone: 'assumed_utc' } : {}),
    };
  }
  return observed === undefined ? undefined : { timestamp_declared: observed, timestamp_declared_source: 'observed' };
}

/** Further digests, to recognise a copy with another serialisation or other signatures. */
function otherDigests({ innermostPayloadHash, jcs }: VconFacts): Record<string, string> {
  if (innermostPayloadHash) return { payload_innermost_sha256: innermostPayloadHash };
  return jcs ? { payload_jcs_sha256: jcs.hash, ...(jcs.lossy ? { jcs_lossy: 'true' } : {}) } : {};
}

/** The origin of this vCon, so that one query finds the whole history of a conversation. */
function lineage({ amended, redacted }: VconFacts, history: string | undefined): Record<string, string> {
  return {
    ...(history ? { vcon_history: `vcon://${history}` } : {}),
    ...(amended ? { vcon_amends: `vcon://${amended}` } : {}),
    ...(redacted ? { vcon_redacts: `vcon://${redacted}` } : {}),
  };
}

/**
 * The event of an operation on a vCon with these facts (template 0.3.0). Every document is evidence: one that is not a
 * vCon is marked `malformed`, and one without a uuid is named by its hash. The event contains nothing that a person
 * said, and no name, number or address.
 */
export function operationEvent(operation: Operation, vcon: VconFacts, capture: Capture): OperationEvent {
  const { payload } = vcon;
  const { atMs, clockWrong, sequence } = capture.observed;
  const observed = clockWrong ? undefined : new Date(atMs).toISOString();
  const time = declaredTime(vcon, observed);
  const subject = subjectOf(vcon);
  const attributes: Record<string, string> = {
    arc_display_type: operation.name,
    ...(operation.linkType ? { conserver_link: operation.linkType } : {}),
    ...(operation.link ? { conserver_link_name: operation.link } : {}),
    conserver_link_version: TEMPLATE_VERSION,
    ...(operation.chain ? { conserver_chain: operation.chain } : {}),
    payload,
    payload_hash_alg: 'SHA-256',
    payload_preimage_content_type: CONTENT_TYPE,
    subject,
    ...time,
    ...(observed ? { timestamp_observed: observed } : {}),
    vcon_operation: operation.name,
    ...(operation.reported ? { vcon_operation_reported: operation.reported } : {}),
    ...(isListed(operation.name) ? {} : { vcon_operation_vocabulary: 'unlisted' }),
    ...DRAFT_VERSIONS,
    vcon_draft_version: draftOf(vcon),
    ...(vcon.form ? { vcon_form: vcon.form } : {}),
    ...(vcon.vconMember && VERSION.test(vcon.vconMember) ? { vcon_version: vcon.vconMember } : {}),
    ...(vcon.uuid ? {} : { vcon_subject_source: 'payload_hash' }),
    ...(vcon.skimmed ? { vcon_inspection: 'top_level' } : {}),
    ...otherDigests(vcon),
    ...lineage(vcon, capture.history ?? vcon.uuid),
    capture_method: capture.method,
    capture_sequence: sequence,
  };
  const { tenancy } = operation;
  return { subject, payload, timestampDeclared: time?.timestamp_declared, attributes, ...(tenancy ? { tenancy } : {}) };
}
