import { HashAlgorithm } from '../cose/algorithms.js';
import type { CborMap } from '../cose/cbor.js';
import { Header } from '../cose/labels.js';
import { type ReadStatement, type StatementSigner, statementHeader } from './signed-statement.js';
import type { VconTemplate } from './vcon-template.js';

/** Preimage content type of a statement whose payload is the digest of an asset-free event's record. */
export const ASSET_FREE_RECORD_TYPE = 'application/vnd.vcon-archivist.asset-free-event+json';

/** The record of an asset-free event, as a statement names it. */
interface EventRecord {
  /** `events/<uuid>` */
  readonly identity: string;
  /** SHA-256 of the record. */
  readonly digest: Uint8Array;
}

/** What a statement of the service says of an event: its vCon operation, its record, or both. */
export type EventStatement =
  | { readonly template: VconTemplate; readonly record?: EventRecord | undefined }
  | { readonly template?: undefined; readonly record: EventRecord };

/**
 * Returns the protected header and the payload to sign. With a template the statement is the vCon operation's, and the
 * record's digest stands under one header more; without one the record's digest is the payload itself
 * (docs/formats/asset-free-record.md).
 */
export function eventStatement(
  { template, record }: EventStatement,
  signer: StatementSigner,
): { readonly header: CborMap; readonly payload: Uint8Array } {
  if (!template) return { header: statementHeader(recordEnvelope(record), signer), payload: record.digest };
  const header = statementHeader(template, signer);
  if (record) header.set(Header.assetFreeRecord, record.digest);
  return { header, payload: template.payload };
}

function recordEnvelope({ identity, digest }: EventRecord): VconTemplate {
  return {
    payload: digest,
    payloadHashAlg: HashAlgorithm.sha256,
    subject: identity,
    preimageContentType: ASSET_FREE_RECORD_TYPE,
    meta: new Map(),
  };
}

/**
 * Returns whether a statement is only about the record of an asset-free event. Its subject is then the event, not a
 * vCon.
 */
export function isRecordStatement({ subject, preimageContentType, payloadHashAlg }: ReadStatement): boolean {
  return (
    preimageContentType === ASSET_FREE_RECORD_TYPE &&
    payloadHashAlg === HashAlgorithm.sha256 &&
    subject?.startsWith('events/') === true
  );
}

/** Returns the digest of the record that a statement states; undefined if it states none. */
export function statedRecord(statement: ReadStatement): Uint8Array | undefined {
  const stated = isRecordStatement(statement)
    ? statement.payloadHash
    : statement.sign1.protectedHeader.get(Header.assetFreeRecord);
  return stated instanceof Uint8Array && stated.length === 32 ? stated : undefined;
}
