import type { CborMap, CborValue } from '../cose/cbor.js';
import { DataStructure, EVENT_HEADER, Header } from '../cose/labels.js';
import { decodeSign1, encodeSign1 } from '../cose/sign1.js';
import { VerificationError } from '../errors.js';
import { mmrReceiptInForm } from '../receipt/mmr-receipt.js';
import { receiptStructure } from '../receipt/receipt-proof.js';
import { type EventDocument, parseEventDocument } from './event-document.js';
import { statementEntry } from './statement-entry.js';

/** What a transparent statement carries beside its statement. */
export interface Transparency {
  /** Receipt of the statement log. */
  readonly rfc9162Receipt: Uint8Array;
  /** Receipt of the tenancy log, in either form; it is written in the draft's. */
  readonly mmrReceipt?: Uint8Array | undefined;
  /** The frozen event that the tenancy log committed to. */
  readonly event?: EventDocument | undefined;
}

/** A transparent statement taken apart; nothing is checked yet. */
export interface ReadTransparentStatement {
  /** The signed statement alone, as the statement log committed to it. */
  readonly entry: Uint8Array;
  readonly rfc9162Receipt?: Uint8Array;
  readonly mmrReceipt?: Uint8Array;
  readonly event?: EventDocument;
}

/**
 * The signed statement with its receipts under header 394, the statement log's first (RFC 9942 section 4.3), and the
 * frozen event as JSON text under `event`. All of it is unprotected: it proves the statement and is not part of it.
 * @throws {VerificationError} `malformed` when statement or receipt are not what they should be
 */
export function assembleTransparentStatement(statement: Uint8Array, transparency: Transparency): Uint8Array {
  const { rfc9162Receipt, mmrReceipt, event } = transparency;
  const receipts = [rfc9162Receipt, ...(mmrReceipt ? [mmrReceiptInForm(mmrReceipt, 'draft')] : [])];
  const unprotectedHeader: CborMap = new Map<number | string, CborValue>([[Header.receipts, receipts]]);
  if (event) unprotectedHeader.set(EVENT_HEADER, JSON.stringify(event));
  return encodeSign1({ ...decodeSign1(statement), unprotectedHeader });
}

function attachedReceipts(header: CborMap): Uint8Array[] {
  const receipts = header.get(Header.receipts) ?? [];
  if (!Array.isArray(receipts)) throw new VerificationError('malformed', 'header 394 is not a list of receipts');
  return receipts.map((receipt) => {
    if (!(receipt instanceof Uint8Array)) throw new VerificationError('malformed', 'a receipt is not a byte string');
    return receipt;
  });
}

/**
 * Takes a transparent statement apart. One receipt a structure: with two, "it verifies" would not say which.
 * @throws {VerificationError} `malformed`, `unsupported`
 */
export function readTransparentStatement(bytes: Uint8Array): ReadTransparentStatement {
  const header = decodeSign1(bytes).unprotectedHeader;
  const receipts = new Map<number, Uint8Array>();
  for (const receipt of attachedReceipts(header)) {
    const structure = receiptStructure(receipt);
    if (receipts.has(structure))
      throw new VerificationError('unsupported', `the statement carries two receipts of structure ${structure}`);
    receipts.set(structure, receipt);
  }
  const [rfc9162Receipt, mmrReceipt] = [
    receipts.get(DataStructure.rfc9162Sha256),
    receipts.get(DataStructure.mmrSha256),
  ];
  const known = (rfc9162Receipt ? 1 : 0) + (mmrReceipt ? 1 : 0);
  if (known !== receipts.size)
    throw new VerificationError('unsupported', 'the statement carries a receipt of an unknown structure');
  const event = header.get(EVENT_HEADER);
  if (event !== undefined && typeof event !== 'string')
    throw new VerificationError('malformed', 'the event of a transparent statement is not text');
  return {
    entry: statementEntry(bytes),
    ...(rfc9162Receipt ? { rfc9162Receipt } : {}),
    ...(mmrReceipt ? { mmrReceipt } : {}),
    ...(event === undefined ? {} : { event: parseEventDocument(event) }),
  };
}
