import { concatBytes, equalBytes, utf8 } from '../bytes.js';
import { VerificationError } from '../errors.js';
import { type CborLimits, type CborMap, type CborValue, decodeCbor, encodeCbor, joinCbor } from './cbor.js';
import { Header, SIGN1_TAG } from './labels.js';
import type { Signer } from './signature.js';

/** The four parts of a COSE_Sign1 (RFC 9052 section 4.2). The protected header is also there as the signed bytes. */
export interface Sign1 {
  readonly protectedBytes: Uint8Array;
  readonly protectedHeader: CborMap;
  readonly unprotectedHeader: CborMap;
  /** null when detached. */
  readonly payload: Uint8Array | null;
  readonly signature: Uint8Array;
}

/** The parts that a message is encoded from. The protected header is among them only as bytes. */
export type Sign1Parts = Omit<Sign1, 'protectedHeader'>;

/** A message as bytes or already decoded, so that it is decoded only once. */
export type Sign1Message = Uint8Array | Sign1;

/** What every message and every input of a signature begins with: the tag, the array's head, the context. */
const SIGN1_START = Uint8Array.of(0xc0 | SIGN1_TAG, 0x84);
const SIGNATURE_START = concatBytes(Uint8Array.of(0x84, 0x60 | 'Signature1'.length), utf8('Signature1'));
const NO_BYTES = { encoded: Uint8Array.of(0x40) };
const NO_MAP = { encoded: Uint8Array.of(0xa0) };
const NULL = { encoded: Uint8Array.of(0xf6) };

function malformed(reason: string): VerificationError {
  return new VerificationError('malformed', `not a COSE_Sign1: ${reason}`);
}

function protectedMap(bytes: Uint8Array, { ofOthers }: CborLimits): CborMap {
  if (bytes.length === 0) return new Map();
  const header = decodeCbor(bytes, { ofOthers });
  if (!(header instanceof Map)) throw malformed('the protected header is not a map');
  return header;
}

/**
 * Reads a tagged COSE_Sign1. A label in both headers is refused (RFC 9052 section 3).
 * @throws {VerificationError} `malformed`
 */
export function decodeSign1(bytes: Uint8Array, limits: Omit<CborLimits, 'tag'> = {}): Sign1 {
  const parts = decodeCbor(bytes, { ...limits, tag: SIGN1_TAG });
  if (!Array.isArray(parts) || parts.length !== 4) throw malformed('it does not have four parts');
  const [protectedBytes, unprotectedHeader, payload, signature] = parts as [CborValue, CborValue, CborValue, CborValue];
  if (!(protectedBytes instanceof Uint8Array)) throw malformed('the protected header is not a byte string');
  if (!(unprotectedHeader instanceof Map)) throw malformed('the unprotected header is not a map');
  if (payload !== null && !(payload instanceof Uint8Array)) throw malformed('the payload is not a byte string');
  if (!(signature instanceof Uint8Array)) throw malformed('the signature is not a byte string');
  const protectedHeader = protectedMap(protectedBytes, limits);
  for (const label of unprotectedHeader.keys())
    if (protectedHeader.has(label)) throw malformed('one label is in both headers');
  return { protectedBytes, protectedHeader, unprotectedHeader, payload, signature };
}

/** Returns the decoded message, given as bytes or already decoded. @throws {VerificationError} `malformed` */
export function decodedSign1(message: Sign1Message): Sign1 {
  return message instanceof Uint8Array ? decodeSign1(message) : message;
}

/** Returns a tagged COSE_Sign1. Protected header, payload and signature are in it byte for byte as given. */
export function encodeSign1(parts: Sign1Parts): Uint8Array {
  const { protectedBytes, unprotectedHeader, payload, signature } = parts;
  return joinCbor(
    SIGN1_START,
    { bytes: protectedBytes },
    unprotectedHeader.size === 0 ? NO_MAP : { encoded: encodeCbor(unprotectedHeader) },
    payload ? { bytes: payload } : NULL,
    { bytes: signature },
  );
}

/** Returns the bytes that are signed (RFC 9052 section 4.4), with empty external data. */
export function signatureInput(protectedBytes: Uint8Array, payload: Uint8Array): Uint8Array {
  return joinCbor(SIGNATURE_START, { bytes: protectedBytes }, NO_BYTES, { bytes: payload });
}

/**
 * Signs a payload. The protected header must name the signer's algorithm; if it names a kid, it must be the signer's.
 * The result contains the payload; a caller that needs it detached replaces it.
 * @throws {TypeError} if the header names another algorithm or key
 */
export async function createSign1(header: CborMap, payload: Uint8Array, signer: Signer): Promise<Sign1> {
  const kid = header.get(Header.kid);
  if (header.get(Header.alg) !== signer.alg) throw new TypeError('the header names another algorithm than the signer');
  if (kid !== undefined && !(kid instanceof Uint8Array && equalBytes(kid, signer.kid)))
    throw new TypeError('the header names another key than the signer');
  const protectedBytes = encodeCbor(header);
  const signature = await signer.sign(signatureInput(protectedBytes, payload));
  return { protectedBytes, protectedHeader: header, unprotectedHeader: new Map(), payload, signature };
}
