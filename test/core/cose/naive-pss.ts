import { createHash, type KeyObject } from 'node:crypto';

type Hash = 'sha256' | 'sha384' | 'sha512';

const digest = (hash: Hash, ...parts: Uint8Array[]) => {
  const all = createHash(hash);
  for (const part of parts) all.update(part);
  return all.digest();
};

const number = (bytes: Uint8Array) => BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
const encoded = (value: bigint, width: number) => Buffer.from(value.toString(16).padStart(2 * width, '0'), 'hex');

function maskOf(hash: Hash, seed: Uint8Array, length: number): Buffer {
  const blocks: Buffer[] = [];
  for (let count = 0; Buffer.concat(blocks).length < length; count += 1)
    blocks.push(digest(hash, seed, Buffer.of(0, 0, 0, count)));
  return Buffer.concat(blocks).subarray(0, length);
}

function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let result = 1n;
  let square = base % modulus;
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % modulus;
    square = (square * square) % modulus;
  }
  return result;
}

/** The parts of an encoding, before the mask. */
export interface PssEncoding {
  /** Zeros, 1, and the salt. */
  readonly block: Uint8Array;
  trailer: number;
  /** Bits above the encoding, in its first byte. */
  above: number;
}

/**
 * RSASSA-PSS by the letter of RFC 8017 sections 8.1.1 and 9.1.1, with the salt that the caller gives: slow, and by itself.
 * @param change makes another encoding than the standard's
 * @throws {RangeError} if that is above the modulus
 */
export function naivePss(
  privateKey: KeyObject,
  hash: Hash,
  message: Uint8Array,
  salt: Uint8Array,
  change: (encoding: PssEncoding) => void = () => undefined,
): Uint8Array {
  const jwk = privateKey.export({ format: 'jwk' });
  const [n, d] = [Buffer.from(jwk.n!, 'base64url'), Buffer.from(jwk.d!, 'base64url')];
  const bits = number(n).toString(2).length - 1;
  const width = Math.ceil(bits / 8);
  const hashed = digest(hash, Buffer.alloc(8), digest(hash, message), salt);
  const block = Buffer.alloc(width - hashed.length - 1);
  block[block.length - salt.length - 1] = 1;
  block.set(salt, block.length - salt.length);
  const encoding = { block, trailer: 0xbc, above: 0 };
  change(encoding);
  const mask = maskOf(hash, hashed, block.length);
  const masked = block.map((byte, at) => byte ^ mask[at]!);
  masked[0] = (masked[0]! & (0xff >> (8 * width - bits))) | encoding.above;
  const whole = Buffer.concat([masked, hashed, Buffer.of(encoding.trailer)]);
  if (number(whole) >= number(n)) throw new RangeError('the encoding is above the modulus');
  return new Uint8Array(encoded(power(number(whole), number(d), number(n)), n.length));
}
