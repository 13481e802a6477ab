import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { concatBytes, fromHex, toHex, utf8 } from '../../../src/core/bytes.js';
import { plainVerify } from '../../../src/core/cose/plain-verify.js';
import { publicJwk } from '../../../src/core/cose/public-key.js';
import { webCryptoVerify } from '../../../src/core/cose/web-crypto-verify.js';
import { newKeyPair } from '../../../src/platform/keys/new-key-pair.js';
import { naivePss, type PssEncoding } from './naive-pss.js';

const PS256 = -37;
const BYTES = 256;
const SALT_BYTES = 32;
/** Where the number before the salt is: the hash and the trailer come after the salt. */
const SEPARATOR = BYTES - 32 - 1 - SALT_BYTES - 1;
const { privateKey, publicKey } = newKeyPair({ type: 'rsa', bits: 8 * BYTES });
const jwk = publicKey.export({ format: 'jwk' });
const key = publicJwk(jwk);
const number = (bytes: Uint8Array) => BigInt(`0x${toHex(bytes)}`);
const MESSAGE = utf8('a statement');

/** A signature by the holder of the key, who may make any encoding. */
function signature(change?: (encoding: PssEncoding) => void, saltBytes = SALT_BYTES): Uint8Array {
  for (;;)
    try {
      return naivePss(privateKey, 'sha256', MESSAGE, randomBytes(saltBytes), change);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
    }
}

/** A good signature with the modulus added, which is the same number to the key. About one in four has as many bytes. */
function aboveModulus(): Uint8Array {
  for (;;) {
    const hex = (number(signature()) + number(Buffer.from(jwk.n!, 'base64url'))).toString(16);
    if (hex.length === 2 * BYTES) return fromHex(hex);
  }
}

describe('an RSA-PSS signature in plain JavaScript', () => {
  it('verifies as the standard makes it', async () => {
    for (const verify of [plainVerify, webCryptoVerify])
      expect(await verify(key, PS256, MESSAGE, signature())).toBe(true);
  });

  it.each<[string, () => Uint8Array]>([
    ['with another trailer', () => signature((encoding) => (encoding.trailer = 0xcc))],
    ['with a padding that begins with something else than zero', () => signature(({ block }) => (block[0] = 1))],
    [
      'with a padding that ends with something else than zero',
      () => signature(({ block }) => (block[SEPARATOR - 1] = 1)),
    ],
    ['with another number before its salt', () => signature(({ block }) => (block[SEPARATOR] = 2))],
    ['with a bit above its encoding', () => signature((encoding) => (encoding.above = 0x80))],
    ['with a shorter salt', () => signature(undefined, SALT_BYTES - 1)],
    ['with a longer salt', () => signature(undefined, SALT_BYTES + 1)],
    ['with the modulus added to it', aboveModulus],
    ['with a zero before it', () => concatBytes(Uint8Array.of(0), signature())],
    ['with a zero after it', () => concatBytes(signature(), Uint8Array.of(0))],
    ['of no bytes', () => new Uint8Array()],
  ])('is refused %s, although the holder of the key has made it, as Web Crypto refuses it', async (_, made) => {
    const bytes = made();
    for (const verify of [plainVerify, webCryptoVerify]) expect(await verify(key, PS256, MESSAGE, bytes)).toBe(false);
  });
});
