import { equalBytes } from '../bytes.js';
import type { Sign1Message } from '../cose/sign1.js';
import { VerificationError } from '../errors.js';
import { type AssetFreeRecord, assetFreeRecordDigest } from '../event/asset-free-record.js';
import { type EventDocument, isAssetEvent } from '../statement/event-document.js';
import { isRecordStatement, statedRecord } from '../statement/event-statement.js';
import { isIssuerOfService, tenancyOfIssuer } from '../statement/issuer-did.js';
import { type ReadStatement, readStatement } from '../statement/signed-statement.js';
import { statementEntry } from '../statement/statement-entry.js';
import { digestOfHex, hashRules, META_ATTRIBUTES } from '../statement/vcon-template.js';
import { tenancyOfEvent } from './event-facts.js';
import { eventAttributes, REGISTERED_STATEMENT, submittedStatement } from './verify-event.js';

type Attributes = Readonly<Record<string, unknown>>;

function mismatch(what: string, member: string): VerificationError {
  return new VerificationError('event_mismatch', `the event and the statement differ in ${what}`, member);
}

const filled = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

/** Digest, algorithm and subject. Those of a registered statement's event may be absent. */
function checkEnvelope(attributes: Attributes, statement: ReadStatement, optional: boolean): void {
  const { payload_hash_alg: name, payload, subject } = attributes;
  const rules = hashRules(name);
  if (!(optional && name === undefined) && (!rules || rules.alg !== statement.payloadHashAlg))
    throw mismatch('the hash algorithm', 'payload_hash_alg');
  const digest = rules && digestOfHex(payload, rules);
  const carried = statement.sign1.payload;
  if (!(optional && payload === undefined) && !(digest && carried && equalBytes(digest, carried)))
    throw mismatch('the payload', 'payload');
  if (!(optional && subject === undefined) && subject !== statement.subject) throw mismatch('the subject', 'subject');
}

/** Content type and location, which are left out where they are empty. */
function checkPayloadLabels(attributes: Attributes, statement: ReadStatement, optional: boolean): void {
  const { preimageContentType, payloadLocation } = statement;
  const pairs = [
    ['payload_preimage_content_type', 'the content type', preimageContentType],
    ['payload_location', 'the location', payloadLocation],
  ] as const;
  for (const [name, what, said] of pairs) {
    const kept = optional ? filled(attributes[name]) : attributes[name];
    if (optional && kept === undefined) continue;
    const expected = typeof kept === 'string' && !(name === 'payload_location' && kept === '') ? kept : undefined;
    if (expected !== said) throw mismatch(what, name);
  }
}

/** Every attribute of the template in both directions: a statement is made from exactly these. */
function checkMeta(attributes: Attributes, { meta }: ReadStatement): void {
  for (const [name, value] of meta)
    if (typeof name !== 'string' || !Object.hasOwn(attributes, name) || attributes[name] !== value)
      throw mismatch(`the attribute ${String(name)}`, String(name));
  for (const name of META_ATTRIBUTES)
    if (typeof attributes[name] === 'string' && !meta.has(name)) throw mismatch(`the attribute ${name}`, name);
}

/** Display type of an event whose registered statement says none. */
const REGISTERED_DISPLAY_TYPE = 'signed_statement';

/** The event may leave out what the statement says; what it says itself has to be the statement's. */
function checkRegisteredMeta(attributes: Attributes, { meta, issuer }: ReadStatement): void {
  for (const name of META_ATTRIBUTES) {
    const said = filled(attributes[name]);
    const own = name === 'arc_display_type' && said === REGISTERED_DISPLAY_TYPE && !meta.has(name);
    if (said !== undefined && !own && said !== meta.get(name)) throw mismatch(`the attribute ${name}`, name);
  }
  const named = filled(attributes['issuer']);
  if (named !== undefined && named !== issuer) throw mismatch('the issuer', 'issuer');
}

/** Returns the statement that an event carries, in the form in which a log holds it; undefined if it carries none. */
function carriedEntry(event: EventDocument): Uint8Array | undefined {
  const registered = submittedStatement(event);
  try {
    return registered && statementEntry(registered);
  } catch {
    return undefined;
  }
}

/** A registered statement that an event was made from. */
interface MadeFrom {
  /** As a log holds it. */
  readonly entry: Uint8Array;
  readonly issuer: string | undefined;
}

/**
 * Returns the registered statement that an event was made from: the event carries it and agrees with it. Returns
 * undefined for any other event. Carrying the bytes proves nothing by itself, because any tenancy can record them
 * beside another payload.
 * @param logIssuer as for `verifyEventMatchesStatement`
 */
export function statementOfEvent(event: EventDocument, logIssuer: string | undefined): MadeFrom | undefined {
  const entry = carriedEntry(event);
  if (!entry) return undefined;
  try {
    verifyEventMatchesStatement(event, entry, logIssuer);
    return { entry, issuer: readStatement(entry).issuer };
  } catch (error) {
    if (error instanceof VerificationError) return undefined;
    throw error;
  }
}

function checkIssuer(event: EventDocument, statement: ReadStatement): void {
  if (tenancyOfIssuer(statement.issuer) !== tenancyOfEvent(event))
    throw new VerificationError(
      'event_mismatch',
      `the statement is issued by "${statement.issuer}", which does not name the event's tenancy ${tenancyOfEvent(event)}`,
      'issuer',
    );
}

/**
 * Checks a frozen event against the record that its statement states (docs/formats/asset-free-record.md). Returns true
 * if the statement covers the event's identity, type, creator, creation time, tenancy, attributes and trails. Returns
 * false if it states no record: it is about an asset event, or older than records.
 * @throws {VerificationError} `event_mismatch`
 */
export function verifyEventRecord(event: EventDocument, statement: ReadStatement): boolean {
  const stated = statedRecord(statement);
  if (!stated) return false;
  if (isAssetEvent(event)) throw mismatch('kind: the statement is of an asset-free event', 'identity');
  const { event_type } = event;
  if (event_type === undefined) throw mismatch('event_type', 'event_type');
  if (isRecordStatement(statement) && statement.subject !== event.identity) throw mismatch('the identity', 'identity');
  if (!equalBytes(recordDigest({ ...event, event_type }), stated))
    throw mismatch('the record: one of its members is not the one that was signed', 'record');
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
 * Checks that a frozen event and a signed statement are about the same operation. Returns whether the statement states
 * the event's whole record.
 * A statement is made from an event's attributes. So payload, subject, hash algorithm, content type, location and every
 * attribute of the template must be equal in both directions, and the issuer must be the event's tenancy.
 * An event that was made from a registered statement carries that statement. The statement may be from any issuer, and
 * the event may omit members, but not contradict it.
 * @param logIssuers who signs for the event's log, as far as that is known: no tenancy of such a service has its
 *   statements registered by another one
 * @throws {VerificationError} `event_mismatch`
 */
export function verifyEventMatchesStatement(
  event: EventDocument,
  statement: Sign1Message,
  ...logIssuers: readonly (string | undefined)[]
): boolean {
  const attributes = eventAttributes(event);
  const read = readStatement(statement);
  const isRecorded = verifyEventRecord(event, read);
  if (isRecorded) checkIssuer(event, read);
  if (isRecorded && isRecordStatement(read)) return true;
  const isRegistered = Object.hasOwn(attributes, REGISTERED_STATEMENT);
  const carried = isRegistered ? carriedEntry(event) : undefined;
  if (isRegistered && !(carried && equalBytes(carried, statementEntry(statement))))
    throw mismatch('the registered statement', REGISTERED_STATEMENT);
  checkEnvelope(attributes, read, isRegistered);
  checkPayloadLabels(attributes, read, isRegistered);
  if (!isRegistered || logIssuers.some((each) => isIssuerOfService(read.issuer, each))) checkIssuer(event, read);
  if (isRegistered) checkRegisteredMeta(attributes, read);
  else checkMeta(attributes, read);
  return isRecorded;
}
