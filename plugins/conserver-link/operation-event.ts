import { createHash } from 'node:crypto';
import { TEMPLATE_VERSION } from '../../src/core/statement/vcon-template.js';
import { inspectVcon, type VconInspection } from '../../src/core/vcon/vcon-form.js';
import { jcsHash } from '../../src/core/vcon/vcon-hash.js';
import type { Operation } from './operation.js';

/** An operation as it will stand in the log: the template's attributes and a few of ours, texts all of them. */
export interface OperationEvent {
  /** `vcon://<uuid>` */
  readonly subject: string;
  /** Hex SHA-256 of the bytes that were received. */
  readonly payload: string;
  /** RFC 3339. */
  readonly timestampDeclared: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** The drafts that the template's values are about; documents do not tell. */
const VCON_DRAFT = 'core-02';
const SCITT_DRAFT = '22';
const CONTENT_TYPE = 'application/vcon+json';
const RFC3339 = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?)([Zz]|[+-]\d{2}:\d{2})?$/;
const VERSION = /^\d{1,3}(\.\d{1,3}){0,3}$/;

function sha256(...parts: readonly Uint8Array[]): Uint8Array {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

/** A UUIDv8 (RFC 9562) out of a digest, for a document that has none of its own. */
function uuidOfDigest(digest: Uint8Array): string {
  const bytes = Buffer.from(digest.subarray(0, 16));
  bytes[6] = (bytes[6]! & 0x0f) | 0x80;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

interface DeclaredTime {
  readonly timestamp_declared: string;
  readonly timestamp_declared_source: 'updated_at' | 'created_at' | 'observed';
  readonly timestamp_declared_zone?: 'assumed_utc';
}

/** The vCon's own time where it has one that is a time; Python writes some without a zone, and means UTC. */
function declaredTime(vcon: VconInspection, observed: string): DeclaredTime {
  const candidates = [
    ['updated_at', vcon.updatedAt],
    ['created_at', vcon.createdAt],
  ] as const;
  for (const [source, text] of candidates) {
    const [, date, time, zone] = RFC3339.exec(text ?? '') ?? [];
    const instant = `${date}T${time}${zone?.toUpperCase() ?? 'Z'}`;
    if (date === undefined || Number.isNaN(Date.parse(instant))) continue;
    return {
      timestamp_declared: instant,
      timestamp_declared_source: source,
      ...(zone === undefined ? { timestamp_declared_zone: 'assumed_utc' } : {}),
    };
  }
  return { timestamp_declared: observed, timestamp_declared_source: 'observed' };
}

/** Digests beside the payload, by which a copy in another spelling or with other signatures is recognised. */
function otherDigests(vcon: VconInspection): Record<string, string> {
  if (vcon.innermostPayloadHash) return { payload_innermost_sha256: vcon.innermostPayloadHash };
  if (!vcon.document || vcon.form === 'encrypted') return {};
  const jcs = jcsHash(vcon.document, sha256);
  if (jcs.hash === undefined) return {};
  return { payload_jcs_sha256: jcs.hash, ...(jcs.lossy ? { jcs_lossy: 'true' } : {}) };
}

/**
 * The event of an operation on the vCon in these bytes (template 0.3.0). Whatever the bytes are, they are evidence: what
 * is no vCon is marked `malformed`, and gets a subject from its hash when it has no uuid. Nothing that a person said, and
 * no name, number or address, is in it.
 * @param observedMs Unix time in milliseconds at which the operation was observed
 */
export function operationEvent(operation: Operation, bytes: Uint8Array, observedMs: number): OperationEvent {
  const digest = sha256(bytes);
  const payload = hex(digest);
  const vcon = inspectVcon(bytes, sha256);
  const observed = new Date(observedMs).toISOString();
  const time = declaredTime(vcon, observed);
  const subject = `vcon://${vcon.uuid ?? uuidOfDigest(digest)}`;
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
    timestamp_observed: observed,
    vcon_operation: operation.name,
    vcon_draft_version: VCON_DRAFT,
    scitt_draft_version: SCITT_DRAFT,
    vcon_form: vcon.form,
    ...(vcon.vconMember && VERSION.test(vcon.vconMember) ? { vcon_version: vcon.vconMember } : {}),
    ...(vcon.uuid ? {} : { vcon_subject_source: 'payload_hash' }),
    ...otherDigests(vcon),
  };
  return { subject, payload, timestampDeclared: time.timestamp_declared, attributes };
}
