import type { CborMap, CborValue } from '../cose/cbor.js';
import { EVENT_HEADER, Header } from '../cose/labels.js';
import { decodeSign1, encodeSign1, type Sign1, type Sign1Message } from '../cose/sign1.js';
import { VerificationError } from '../errors.js';
import { mmrReceiptInForm } from '../receipt/mmr-receipt.js';
import { receiptStructure } from '../receipt/receipt-proof.js';
import { parseUnambiguousJson } from '../vcon/unambiguous-json.js';
import { decodeStatement } from './decode-statement.js';
import { type EventDocument, readEventDocument } from './event-document.js';
import { statementEntry } from './statement-entry.js';

/** What a transparent statement carries beside its statement. */
interface Transparency {
  /** Receipt of the statement log. */
  readonly rfc9162Receipt: Uint8Array;
  /** Receipt of the tenancy log, in either form; it is written in the draft's. */
  readonly mmrReceipt?: Uint8Array | undefined;
  /** The frozen event that the tenancy log committed to. */
  readonly event?: EventDocument | undefined;
}

/** A receipt that a transparent statement carries. Nothing is checked yet, and nothing shows who attached it. */
export interface AttachedReceipt {
  /** Its place among the receipts, from 1. */
  readonly place: number;
  readonly bytes: Uint8Array;
  /** Decoded, if it can be: a check of it need not decode it again. */
  readonly message: Sign1Message;
  /** The verifiable data structure that it names; absent if it names none, or cannot be read. */
  readonly structure?: number;
}

/** The parts of a transparent statement. Nothing is checked yet. */
export interface ReadTransparentStatement {
  readonly statement: Sign1;
  /** The signed statement alone, as the statement log committed to it. */
  readonly entry: Uint8Array;
  readonly receipts: readonly AttachedReceipt[];
  readonly event?: EventDocument;
  /** The event's JSON as it came, with the members that no log covers. */
  readonly eventJson?: object;
  /** Labels of other unprotected headers: nothing covers them. */
  readonly otherHeaders: readonly string[];
}

/** Each may cost the check of a signature. A statement is registered with a handful of services. */
const MOST_RECEIPTS = 16;

/**
 * Returns the signed statement with its receipts under header 394, the statement log's first (RFC 9942 section 4.3),
 * and the frozen event as JSON text under `event`. All of these are unprotected: they prove the statement and are not
 * part of it.
 * @throws {VerificationError} `malformed` if the statement or a receipt is not one
 */
export function assembleTransparentStatement(statement: Uint8Array, transparency: Transparency): Uint8Array {
  const { rfc9162Receipt, mmrReceipt, event } = transparency;
  const receipts = [rfc9162Receipt, ...(mmrReceipt ? [mmrReceiptInForm(mmrReceipt, 'draft')] : [])];
  const unprotectedHeader: CborMap = new Map<number | string, CborValue>([[Header.receipts, receipts]]);
  if (event) unprotectedHeader.set(EVENT_HEADER, JSON.stringify(event));
  return encodeSign1({ ...decodeStatement(statement), unprotectedHeader });
}

/**
 * Returns the receipts in an unprotected header, in their order; none without header 394. One that is no byte string is
 * empty: like every receipt that cannot be read, it must not hide the others.
 * @throws {VerificationError} `malformed`; `unsupported` above 16 receipts
 */
export function attachedReceipts(header: CborMap): Uint8Array[] {
  const receipts = header.get(Header.receipts) ?? [];
  if (!Array.isArray(receipts)) throw new VerificationError('malformed', 'header 394 is not a list of receipts');
  if (receipts.length > MOST_RECEIPTS)
    throw new VerificationError(
      'unsupported',
      `the statement has ${receipts.length} receipts, and at most ${MOST_RECEIPTS} are supported: nothing of it was checked`,
    );
  return receipts.map((receipt) => (receipt instanceof Uint8Array ? receipt : new Uint8Array()));
}

function readAttached(bytes: Uint8Array, index: number): AttachedReceipt {
  const place = index + 1;
  try {
    const message = decodeSign1(bytes);
    return { place, bytes, message, structure: receiptStructure(message) };
  } catch (error) {
    if (error instanceof VerificationError) return { place, bytes, message: bytes };
    throw error;
  }
}

const KNOWN_HEADERS: readonly CborValue[] = [Header.receipts, EVENT_HEADER];

/** Returns the labels of unprotected headers that are neither receipts nor an event. Nothing covers their values. */
export function otherHeaders(unprotectedHeader: ReadonlyMap<CborValue, CborValue>): readonly string[] {
  return [...unprotectedHeader.keys()].filter((label) => !KNOWN_HEADERS.includes(label)).map(String);
}

/**
 * Splits a transparent statement into its parts. A receipt that cannot be read is among them: its check says what is
 * wrong with it.
 * @throws {VerificationError} `malformed`, `unsupported`
 */
export function readTransparentStatement(bytes: Uint8Array): ReadTransparentStatement {
  // Whole: what must not be unprotected in a statement must not be beside its receipts either.
  const statement = decodeStatement(bytes);
  const header = statement.unprotectedHeader;
  const receipts = attachedReceipts(header).map(readAttached);
  const event = header.get(EVENT_HEADER);
  if (event !== undefined && typeof event !== 'string')
    throw new VerificationError('malformed', 'the event of a transparent statement is not text');
  const eventJson = event === undefined ? undefined : parseUnambiguousJson(event);
  return {
    statement,
    entry: statementEntry(statement),
    receipts,
    ...(eventJson === undefined ? {} : { event: readEventDocument(eventJson), eventJson: eventJson as object }),
    otherHeaders: otherHeaders(header),
  };
}

/** Returns the receipts of a transparent statement that name a structure (`DataStructure`), in their order. */
export function receiptsOfStructure({ receipts }: ReadTransparentStatement, structure: number): AttachedReceipt[] {
  return receipts.filter((receipt) => receipt.structure === structure);
}
