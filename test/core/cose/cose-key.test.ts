import { describe, expect, it } from 'vitest';
import { fromBase64, fromHex, toBase64Url, toHex } from '../../../src/core/bytes.js';
import { type CborMap, type CborValue, decodeCbor, encodeCbor } from '../../../src/core/cose/cbor.js';
import {
  coseKeyFromJwk,
  decodeCoseKeySet,
  encodeCoseKeySet,
  jwkFromCoseKey,
  keyThumbprint,
} from '../../../src/core/cose/cose-key.js';
import { type PublicJwk, publicJwk } from '../../../src/core/cose/public-key.js';
import { readFixture, type TestKeys } from './read-fixture.js';

const KEYS = readFixture<TestKeys>('keys');
const jwks: PublicJwk[] = (['issuer', 'sealer384', 'ed25519'] as const).map((name) => publicJwk(KEYS[name]));
const [p256] = jwks as [PublicJwk & { kty: 'EC' }];
const curveOf = (jwk: PublicJwk) => ('crv' in jwk ? jwk.crv : jwk.kty);

function coseKey(...members: [number, CborValue][]): CborMap {
  return new Map(members);
}

describe('COSE keys', () => {
  it.each(jwks.map((jwk) => [curveOf(jwk), jwk] as const))('carry a %s key there and back', (_, jwk) => {
    const kid = keyThumbprint(jwk);
    const read = jwkFromCoseKey(coseKeyFromJwk(jwk, kid));
    expect(read).toMatchObject(jwk);
    expect(read.kid).toBe(toBase64Url(kid));
  });

  it('have the thumbprint of RFC 9679 section 6', () => {
    const jwk = publicJwk({
      kty: 'EC',
      crv: 'P-256',
      x: toBase64Url(fromHex('65eda5a12577c2bae829437fe338701a10aaa375e1bb5b5de108de439c08551d')),
      y: toBase64Url(fromHex('1e52ed75701163f7f9e40ddf9f341b3dc9ba860af7e0ca7ca7e9eecd0084d19c')),
      kid: 'meriadoc.brandybuck@buckland.example',
    });
    expect(toHex(keyThumbprint(jwk))).toBe('496bd8afadf307e5b08c64b0421bf9dc01528a344a43bda88fadd1669da253ec');
  });

  it('are read with text key type, named curve and text kid, as the Go sealer writes them', () => {
    const key = coseKey(
      [1, 'EC'],
      [2, 'log:key'],
      [3, -7],
      [-1, 'P-256'],
      [-2, fromBase64(p256.x)],
      [-3, fromBase64(p256.y)],
    );
    expect(jwkFromCoseKey(key)).toEqual({ ...p256, kid: 'log:key', alg: 'ES256' });
  });

  it('get back the leading zeros that a sealer dropped', () => {
    const key = coseKey([1, 2], [-1, 1], [-2, new Uint8Array(30).fill(7)], [-3, new Uint8Array(31).fill(8)]);
    const { x, y } = jwkFromCoseKey(key) as PublicJwk & { kty: 'EC' };
    expect(toHex(fromBase64(x))).toBe(`0000${'07'.repeat(30)}`);
    expect(toHex(fromBase64(y))).toBe(`00${'08'.repeat(31)}`);
  });

  const x = new Uint8Array(32).fill(1);
  it.each<[string, string, CborValue]>([
    ['an unknown curve', 'unsupported', coseKey([1, 2], [-1, 8], [-2, x], [-3, x])],
    ['RSA', 'unsupported', coseKey([1, 3], [-1, x], [-2, x])],
    ['a symmetric key', 'unsupported', coseKey([1, 4], [-1, x])],
    ['a curve of another key type', 'unsupported', coseKey([1, 1], [-1, 1], [-2, x], [-3, x])],
    ['an algorithm of another curve', 'unsupported', coseKey([1, 2], [3, -35], [-1, 1], [-2, x], [-3, x])],
    ['a compressed point', 'unsupported', coseKey([1, 2], [-1, 1], [-2, x], [-3, true])],
    ['a coordinate too long', 'key_invalid', coseKey([1, 2], [-1, 1], [-2, new Uint8Array(33)], [-3, x])],
    ['an empty coordinate', 'key_invalid', coseKey([1, 2], [-1, 1], [-2, new Uint8Array(0)], [-3, x])],
    ['no y', 'key_invalid', coseKey([1, 2], [-1, 1], [-2, x])],
    ['no map', 'key_invalid', [1]],
  ])('are refused with %s', (_, code, key) => {
    expect(() => jwkFromCoseKey(key)).toThrow(expect.objectContaining({ code }));
  });
});

describe('a COSE key set', () => {
  it('carries all keys there and back, named by their thumbprints', () => {
    const read = decodeCoseKeySet(encodeCoseKeySet(jwks));
    expect(read.map(({ kid: _, alg: __, ...members }) => members)).toEqual(
      jwks.map(({ kid: _, alg: __, ...members }) => members),
    );
    expect(read.map(({ kid }) => kid)).toEqual(jwks.map((jwk) => toBase64Url(keyThumbprint(jwk))));
  });

  it('passes over keys of other kinds', () => {
    const set = decodeCbor(encodeCoseKeySet([p256])) as CborValue[];
    expect(decodeCoseKeySet(encodeCbor([new Map([[1, 4]]), ...set]))).toHaveLength(1);
  });

  it('is refused when it is no array', () => {
    expect(() => decodeCoseKeySet(encodeCbor(new Map()))).toThrow(expect.objectContaining({ code: 'malformed' }));
  });
});

describe('a JWK', () => {
  it('loses its private half when read as a public key', () => {
    expect(publicJwk(KEYS.issuer)).not.toHaveProperty('d');
  });

  it('is the same key however its coordinates are spelled: with padding, in standard base64, with unused bits', () => {
    const bytes = Buffer.from(p256.x, 'base64url');
    // The last of 43 characters has two bits that belong to no byte.
    const unusedBits = [...'AEIMQUYcgkosw048'].map(
      (last) => [last, String.fromCharCode(last.charCodeAt(0) + 1)] as const,
    );
    const spare = p256.x.replace(/.$/, (last) => new Map(unusedBits).get(last)!);
    for (const x of [`${p256.x}=`, bytes.toString('base64'), spare]) {
      expect(Buffer.from(x, 'base64')).toEqual(bytes);
      expect(publicJwk({ ...p256, x })).toEqual(publicJwk(p256));
    }
  });

  it.each<[string, string, unknown]>([
    ['no object', 'key_invalid', 'key'],
    ['RSA', 'unsupported', { kty: 'RSA', n: 'AQAB', e: 'AQAB' }],
    ['secp256k1', 'unsupported', { ...p256, crv: 'secp256k1' }],
    ['a curve named like a method', 'unsupported', { ...p256, crv: 'toString' }],
    ['an algorithm of another curve', 'unsupported', { ...p256, alg: 'ES384' }],
    ['a short coordinate', 'key_invalid', { ...p256, x: 'AQAB' }],
    ['a coordinate that is no base64', 'key_invalid', { ...p256, y: '*' }],
  ])('is refused with %s', (_, code, jwk) => {
    expect(() => publicJwk(jwk)).toThrow(expect.objectContaining({ code }));
  });
});
