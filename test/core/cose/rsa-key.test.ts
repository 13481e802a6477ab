import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromBase64, fromHex, toBase64Url, utf8 } from '../../../src/core/bytes.js';
import type { CborValue } from '../../../src/core/cose/cbor.js';
import { coseKeyFromJwk, jwkFromCoseKey, keyThumbprint } from '../../../src/core/cose/cose-key.js';
import { readKeyDocument } from '../../../src/core/cose/key-document.js';
import { plainVerify } from '../../../src/core/cose/plain-verify.js';
import { publicJwk } from '../../../src/core/cose/public-key.js';
import { checkSignatureShape } from '../../../src/core/cose/verify-sign1.js';
import { webCryptoVerify } from '../../../src/core/cose/web-crypto-verify.js';
import { newKeyPair } from '../../../src/platform/keys/new-key-pair.js';
import { nodeVerify } from '../../../src/platform/keys/node-verify.js';
import { naivePss } from './naive-pss.js';
import { readFixture } from './read-fixture.js';

interface RsaSignatures {
  readonly n: string;
  readonly e: string;
  readonly kid: string;
  readonly signatures: readonly { name: string; alg: number; message: string; signature: string }[];
}

const known = readFixture<RsaSignatures>('rsa-signatures');
const [n, e] = [fromHex(known.n), fromHex(known.e)];
const jwk = { kty: 'RSA', n: toBase64Url(n), e: toBase64Url(e) };
const key = publicJwk(jwk);
const verifiers = [
  ['OpenSSL', nodeVerify],
  ['Web Crypto', webCryptoVerify],
  ['plain JavaScript', plainVerify],
] as const;

/** A modulus of this many bits that is odd. */
const modulus = (bits: number) => {
  const bytes = new Uint8Array(Math.ceil(bits / 8)).fill(0x5a);
  bytes[0] = 1 << ((bits - 1) % 8);
  bytes[bytes.length - 1] = 1;
  return bytes;
};

describe('an RSA key', () => {
  const ours = (modulusLength: number) => {
    const { privateKey, publicKey } = newKeyPair({ type: 'rsa', bits: modulusLength });
    return { privateKey, key: publicJwk(publicKey.export({ format: 'jwk' })) };
  };
  const pairs = [2048, 2049].map(ours);
  const hashes = [
    [-37, 'sha256', 32],
    [-38, 'sha384', 48],
    [-39, 'sha512', 64],
  ] as const;

  it.each(verifiers)(
    'verifies with %s what RFC 8017 makes, with a salt as long as the hash alone',
    async (_, verify) => {
      const message = utf8('a statement');
      for (const pair of pairs)
        for (const [alg, hash, salt] of hashes)
          for (const length of [0, 20, 32, 48, 64, 100]) {
            const signature = naivePss(pair.privateKey, hash, message, new Uint8Array(length).fill(length));
            checkSignatureShape(pair.key, signature);
            expect(await verify(pair.key, alg, message, signature)).toBe(length === salt);
            for (const other of [-37, -38, -39, -7, -8].filter((each) => each !== alg))
              expect(await verify(pair.key, other, message, signature)).toBe(false);
          }
      for (const { alg, message, signature } of known.signatures)
        expect(await verify(key, alg, fromHex(message), fromHex(signature))).toBe(false);
    },
  );

  it.each(verifiers)('by %s verifies no signature with a bit turned, nor another message', async (_, verify) => {
    const [{ privateKey, key }] = pairs as [(typeof pairs)[0]];
    const message = utf8('a statement');
    const signature = naivePss(privateKey, 'sha256', message, new Uint8Array(32));
    const turn = (bytes: Uint8Array, bit: number) => {
      const turned = bytes.slice();
      turned[bit >> 3]! ^= 1 << (bit & 7);
      return turned;
    };
    await fc.assert(
      fc.asyncProperty(fc.nat(2047), fc.nat(87), async (inSignature, inMessage) => {
        expect(await verify(key, -37, message, turn(signature, inSignature))).toBe(false);
        expect(await verify(key, -37, turn(message, inMessage), signature)).toBe(false);
      }),
      { numRuns: 60 },
    );
  });

  it('has the thumbprint over type, modulus and exponent alone, whatever else it carries', () => {
    const named = publicJwk({ ...jwk, kid: known.kid, alg: 'PS256', use: 'sig' });
    expect(keyThumbprint(named)).toEqual(keyThumbprint(key));
    const carried = jwkFromCoseKey(coseKeyFromJwk(named, fromHex('0102')));
    expect(carried).toEqual({ ...jwk, kid: 'AQI', alg: 'PS256' });
    expect(keyThumbprint(carried)).toEqual(keyThumbprint(key));
  });

  it('is one key, with the leading zeros that some libraries write or without', () => {
    const padded = toBase64Url(new Uint8Array([0, ...n]));
    expect(publicJwk({ ...jwk, n: padded, e: toBase64Url(new Uint8Array([0, 0, ...e])) })).toEqual(key);
  });

  it('loses its private half when read as a public key', () => {
    expect(Object.keys(publicJwk({ ...jwk, d: 'AQAB', p: 'AQAB', q: 'AQAB' })).sort()).toEqual(['e', 'kty', 'n']);
  });

  const exponents: [string, string, Uint8Array][] = [
    ['an exponent of nothing', 'key_invalid', new Uint8Array()],
    ['an exponent of 1', 'key_invalid', new Uint8Array([1])],
    ['an even exponent', 'key_invalid', new Uint8Array([1, 0, 0])],
    ['an exponent of five bytes', 'key_invalid', new Uint8Array([1, 0, 0, 0, 1])],
  ];
  const moduli: [string, string, Uint8Array][] = [
    ['1,024 bits', 'unsupported', modulus(1024)],
    ['2,047 bits', 'unsupported', modulus(2047)],
    ['8,193 bits', 'unsupported', modulus(8193)],
    ['a million bits', 'unsupported', modulus(1_000_000)],
    ['a modulus of zeros', 'unsupported', new Uint8Array(256)],
    ['an even modulus', 'key_invalid', new Uint8Array(256).fill(0xfe)],
  ];
  it.each([
    ...exponents.map(([name, code, value]) => [name, code, n, value] as const),
    ...moduli.map(([name, code, value]) => [name, code, value, e] as const),
  ])('is refused with %s', (_, code, modulusBytes, exponent) => {
    const coseKey = new Map<number, CborValue>([
      [1, 3],
      [-1, modulusBytes],
      [-2, exponent],
    ]);
    expect(() => jwkFromCoseKey(coseKey)).toThrow(expect.objectContaining({ code }));
    const foreign = { kty: 'RSA', n: toBase64Url(modulusBytes), e: toBase64Url(exponent) };
    // So long a text is not even decoded.
    const refusal = foreign.n.length > 4096 ? 'key_invalid' : code;
    expect(() => publicJwk(foreign)).toThrow(expect.objectContaining({ code: refusal }));
  });

  it.each([2048, 2049, 3072, 8192])('may have %i bits', (bits) => {
    expect(publicJwk({ ...jwk, n: toBase64Url(modulus(bits)) }).kty).toBe('RSA');
  });

  it.each(['RS256', 'RSA-OAEP', 'ES256', 'toString', 256])('is no key of ours for the algorithm %s', (alg) => {
    expect(() => publicJwk({ ...jwk, alg })).toThrow(expect.objectContaining({ code: 'unsupported' }));
    const set = { keys: [{ ...jwk, alg }, jwk] };
    expect(readKeyDocument(new TextEncoder().encode(JSON.stringify(set)))).toEqual([key]);
  });

  it.each([
    ['a byte short', (good: Uint8Array) => good.subarray(1)],
    ['a byte long', (good: Uint8Array) => new Uint8Array([0, ...good])],
    ['as large as its modulus', () => fromBase64(jwk.n)],
    ['empty', () => new Uint8Array()],
  ])('has no signature that is %s', (_, change) => {
    const changed = change(fromHex(known.signatures[0]!.signature));
    expect(() => checkSignatureShape(key, changed)).toThrow(expect.objectContaining({ code: 'signature_malformed' }));
  });
});
