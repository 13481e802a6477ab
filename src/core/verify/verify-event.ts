import { equalBytes, fromBase64 } from '../bytes.js';
import type { Sign1Message } from '../cose/sign1.js';
import { VerificationError } from '../errors.js';
import { assetEventLeaf } from '../event/asset-event-leaf.js';
import { assetFreeExtraBytes, assetFreeLeaf } from '../event/asset-free-leaf.js';
import { type AssetFreeRecord, assetFreeRecordDigest } from '../event/asset-free-record.js';
import { EPOCH, parseIdtimestampHex } from '../massif/idtimestamp.js';
import { type ReadLogClaims, tenancyOfLog } from '../receipt/log-claims.js';
import { type Sha256, sha256 } from '../sha256.js';
import { type EventDocument, isAssetEvent, type LogCommit } from '../statement/event-document.js';
import { isRecordStatement, statedRecord } from '../statement/event-statement.js';
import { type ReadStatement, readStatement } from '../statement/signed-statement.js';
import { statementEntry } from '../statement/statement-entry.js';
import { digestOfHex, hashRules, readTemplate } from '../statement/vcon-template.js';

/** The event attribute with the base64 of a statement that was registered before the event was made from it. */
const REGISTERED_STATEMENT = 'signed_statement';

/** Where a frozen event says that its log holds it. */
export function eventCommit(event: EventDocument): LogCommit {
  return isAssetEvent(event) ? event.merklelog_entry.commit : event.merklelog_commit;
}

/** The event's own attributes, whichever kind it is. */
export function eventAttributes(event: EventDocument): Readonly<Record<string, unknown>> {
  return (isAssetEvent(event) ? event.event_attributes : event.attributes) ?? {};
}

/** The leaf that a frozen event has in its log, recomputed from its fields alone, and the node index it claims. */
export interface EventLeaf {
  readonly leaf: Uint8Array;
  readonly mmrIndex: bigint;
}

/**
 * Recomputes the leaf of a frozen event from nothing but the event.
 * @throws {VerificationError} `event_mismatch` when a field has a value that no log commits to
 */
export function eventLeaf(event: EventDocument, hash: Sha256 = sha256): EventLeaf {
  const commit = eventCommit(event);
  try {
    const { epoch, id } = parseIdtimestampHex(commit.idtimestamp);
    // No leaf covers the epoch: any other than the one in use would be a time that nobody committed to.
    if (epoch !== EPOCH) throw new TypeError(`its commitment epoch is not ${EPOCH}`);
    const leaf = isAssetEvent(event)
      ? assetEventLeaf(event, id, hash)
      : assetFreeLeaf(event, id, assetFreeExtraBytes(event), hash);
    return { leaf, mmrIndex: BigInt(commit.index) };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new VerificationError('event_mismatch', `no log commits to such an event: ${error.message}`);
  }
}

/**
 * Checks that a tenancy log is the event's own: its name holds the tenancy that the event names. The public form of an
 * event names its creator's tenancy and lies in the public one's log, so there the caller's pin alone counts.
 * @throws {VerificationError} `log_mismatch`
 */
export function checkEventLog(claims: ReadLogClaims, event: EventDocument): void {
  if (event.identity.startsWith('public')) return;
  const tenancy = (isAssetEvent(event) ? event.tenant_identity : event.origin_tenant).replace(/^tenant\//, '');
  if (tenancy === '' || tenancyOfLog(claims) !== tenancy)
    throw new VerificationError('log_mismatch', `the log "${claims.subject}" is not that of the event's tenancy`);
}

function mismatch(what: string): VerificationError {
  return new VerificationError('event_mismatch', `the event and the statement differ in ${what}`);
}

function checkTemplate(attributes: Readonly<Record<string, unknown>>, statement: ReadStatement): void {
  const rules = hashRules(attributes['payload_hash_alg']);
  if (!rules || rules.alg !== statement.payloadHashAlg) throw mismatch('the hash algorithm');
  const digest = digestOfHex(attributes['payload'], rules);
  if (!digest || !statement.payloadHash || !equalBytes(digest, statement.payloadHash)) throw mismatch('the payload');
  if (attributes['subject'] !== statement.subject) throw mismatch('the subject');
}

/** Whether the event carries this very statement, in base64. */
function carriesStatement(registered: string, statement: Sign1Message): boolean {
  try {
    return equalBytes(statementEntry(fromBase64(registered)), statementEntry(statement));
  } catch {
    return false;
  }
}

/** What was submitted when an event was made from a registered statement; undefined for another event. */
export function submittedStatement(event: EventDocument): Uint8Array | undefined {
  const registered = eventAttributes(event)[REGISTERED_STATEMENT];
  try {
    return typeof registered === 'string' ? fromBase64(registered) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Checks a frozen event against the record that its statement states (docs/formats/asset-free-record.md). True when the
 * statement covers the event's identity, type, creator, creation time, tenancy, attributes and trails; false when it states
 * no record: it is an asset event's, or older than records.
 * @throws {VerificationError} `event_mismatch`
 */
export function verifyEventRecord(event: EventDocument, statement: ReadStatement): boolean {
  const stated = statedRecord(statement);
  if (!stated) return false;
  if (isAssetEvent(event)) throw mismatch('kind: the statement is of an asset-free event');
  const { event_type } = event;
  if (event_type === undefined) throw mismatch('event_type');
  if (isRecordStatement(statement) && statement.subject !== event.identity) throw mismatch('the identity');
  if (!equalBytes(recordDigest({ ...event, event_type }), stated))
    throw mismatch('the record: one of its members is not the one that was signed');
  return true;
}

function recordDigest(event: AssetFreeRecord): Uint8Array {
  try {
    return assetFreeRecordDigest(event);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new VerificationError('event_mismatch', `no statement covers such an event: ${error.message}`);
  }
}

/**
 * Checks that a frozen event and a signed statement speak of the same operation: payload, subject and hash algorithm are
 * equal, and so is the event's record where the statement states one. An event made from a registered statement carries
 * that statement, and need not name these three beside it.
 * @throws {VerificationError} `event_mismatch`
 */
export function verifyEventMatchesStatement(event: EventDocument, statement: Sign1Message): void {
  const read = readStatement(statement);
  verifyEventRecord(event, read);
  if (isRecordStatement(read)) return;
  const attributes = eventAttributes(event);
  const registered = attributes[REGISTERED_STATEMENT];
  if (registered !== undefined && (typeof registered !== 'string' || !carriesStatement(registered, statement)))
    throw mismatch('the registered statement');
  if (registered === undefined || readTemplate(attributes)) checkTemplate(attributes, read);
}
