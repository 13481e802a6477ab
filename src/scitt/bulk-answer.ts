import { type CborMap, encodeCbor } from '../core/cose/cbor.js';
import { inPieces } from '../platform/in-pieces.js';

/**
 * The answer to a bulk registration: the results in one CBOR array, or as a CBOR sequence (RFC 8742). They are encoded one
 * by one, with other requests served in between: a thousand receipts have a megabyte.
 */
export async function bulkAnswer(results: readonly CborMap[], sequence: boolean): Promise<Uint8Array> {
  const encoded = await inPieces(results, (result) => encodeCbor(result));
  return Buffer.concat(sequence ? encoded : [arrayHead(results.length), ...encoded]);
}

/** The bytes before the items of an array of at most 65,535, in their shortest form (RFC 8949 section 4.2.1). */
function arrayHead(length: number): Uint8Array {
  if (length < 24) return Uint8Array.of(0x80 + length);
  return length < 256 ? Uint8Array.of(0x98, length) : Uint8Array.of(0x99, length >> 8, length & 0xff);
}
