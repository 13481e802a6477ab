import type { CborMap, CborValue } from '../cose/cbor.js';
import { DataStructure, EVENT_HEADER, Header } from '../cose/labels.js';
import { decodeSign1, encodeSign1, type Sign1 } from '../cose/sign1.js';
import { VerificationError } from '../errors.js';
import { mmrReceiptInForm } from '../receipt/mmr-receipt.js';
import { receiptStructure } from '../receipt/receipt-proof.js';
import { type EventDocument, readEventDocument } from './event-document.js';
import { statementEntry } from './statement-entry.js';
import { parseUnambiguousJson } from './unambiguous-json.js';

/** What a transparent statement carries beside its statement. */
interface Transparency {
  /** Receipt of the statement log. */
  readonly rfc9162Receipt: Uint8Array;
  /** Receipt of the tenancy log, in either form; it is written in the draft's. */
  readonly mmrReceipt?: Uint8Array | undefined;
  /** The frozen event that the tenancy log committed to. */
  readonly event?: EventDocument | undefined;
}

/** The parts of a transparent statement. Nothing is checked yet. */
export interface ReadTransparentStatement {
  /** The signed statement alone, as the statement log committed to it. */
  readonly entry: Uint8Array;
  readonly rfc9162Receipt?: Uint8Array;
  readonly mmrReceipt?: Uint8Array;
  readonly event?: EventDocument;
  /** The event's JSON as it came, with the members that no log covers. */
  readonly eventJson?: object;
  /** Labels of other unprotected headers: nothing covers them. */
  readonly otherHeaders: readonly string[];
  /** The same messages decoded: who checks them need not decode them again. */
  readonly decoded: { readonly statement: Sign1; readonly rfc9162Receipt?: Sign1; readonly mmrReceipt?: Sign1 };
}

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
  return encodeSign1({ ...decodeSign1(statement), unprotectedHeader });
}

/**
 * Returns the receipts in an unprotected header, in their order; none without header 394.
 * @throws {VerificationError} `malformed`
 */
export function attachedReceipts(header: CborMap): Uint8Array[] {
  const receipts = header.get(Header.receipts) ?? [];
  if (!Array.isArray(receipts)) throw new VerificationError('malformed', 'header 394 is not a list of receipts');
  return receipts.map((receipt) => {
    if (!(receipt instanceof Uint8Array)) throw new VerificationError('malformed', 'a receipt is not a byte string');
    return receipt;
  });
}

const KNOWN_HEADERS: readonly CborValue[] = [Header.receipts, EVENT_HEADER];

/** Returns the labels of unprotected headers that are neither receipts nor an event. Nothing covers their values. */
export function otherHeaders(unprotectedHeader: ReadonlyMap<CborValue, CborValue>): readonly string[] {
  return [...unprotectedHeader.keys()].filter((label) => !KNOWN_HEADERS.includes(label)).map(String);
}

/**
 * Splits a transparent statement into its parts. It may have one receipt for each structure, because with two a verdict
 * would not say which of them verified.
 * @throws {VerificationError} `malformed`, `unsupported`
 */
export function readTransparentStatement(bytes: Uint8Array): ReadTransparentStatement {
  const { protectedBytes, protectedHeader, unprotectedHeader: header, payload, signature } = decodeSign1(bytes);
  const receipts = new Map<number, { readonly receipt: Uint8Array; readonly decoded: Sign1 }>();
  for (const receipt of attachedReceipts(header)) {
    const decoded = decodeSign1(receipt);
    const structure = receiptStructure(decoded);
    if (receipts.has(structure))
      throw new VerificationError('unsupported', `the statement carries two receipts of structure ${structure}`);
    receipts.set(structure, { receipt, decoded });
  }
  const [rfc9162, mmr] = [receipts.get(DataStructure.rfc9162Sha256), receipts.get(DataStructure.mmrSha256)];
  const known = (rfc9162 ? 1 : 0) + (mmr ? 1 : 0);
  if (known !== receipts.size)
    throw new VerificationError('unsupported', 'the statement carries a receipt of an unknown structure');
  const event = header.get(EVENT_HEADER);
  if (event !== undefined && typeof event !== 'string')
    throw new VerificationError('malformed', 'the event of a transparent statement is not text');
  // Whole: what must not be unprotected in a statement must not be beside its receipts either.
  const statement = { protectedBytes, protectedHeader, unprotectedHeader: header, payload, signature };
  const eventJson = event === undefined ? undefined : parseUnambiguousJson(event);
  return {
    entry: statementEntry(statement),
    ...(rfc9162 ? { rfc9162Receipt: rfc9162.receipt } : {}),
    ...(mmr ? { mmrReceipt: mmr.receipt } : {}),
    ...(eventJson === undefined ? {} : { event: readEventDocument(eventJson), eventJson: eventJson as object }),
    otherHeaders: otherHeaders(header),
    decoded: {
      statement,
      ...(rfc9162 ? { rfc9162Receipt: rfc9162.decoded } : {}),
      ...(mmr ? { mmrReceipt: mmr.decoded } : {}),
    },
  };
}
