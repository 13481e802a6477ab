import { sign } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { sha512 } from '@noble/hashes/sha2.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { concatBytes, fromHex, toBase64Url, toHex, utf8 } from '../../../src/core/bytes.js';
import { CURVES } from '../../../src/core/cose/algorithms.js';
import { plainVerify } from '../../../src/core/cose/plain-verify.js';
import { curveRules, type PublicJwk, publicJwk } from '../../../src/core/cose/public-key.js';
import { webCryptoVerify } from '../../../src/core/cose/web-crypto-verify.js';
import { newKeyPair } from '../../../src/platform/keys/new-key-pair.js';
import { nodeVerify, signatureFitsApart } from '../../../src/platform/keys/node-verify.js';

const url = (hex: string) => toBase64Url(fromHex(hex));
const ec = (crv: string, x: string, y: string) => publicJwk({ kty: 'EC', crv, x: url(x), y: url(y) });
const ed = (x: string) => publicJwk({ kty: 'OKP', crv: 'Ed25519', x: url(x) });
const P256 = ec(
  'P-256',
  '60fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6',
  '7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299',
);

/** RFC 6979 appendices A.2.5 to A.2.7, and RFC 8032 section 7.1. */
const KNOWN: readonly (readonly [string, PublicJwk, number, Uint8Array, string])[] = [
  [
    'ES256 of RFC 6979',
    P256,
    -7,
    utf8('sample'),
    'efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716' +
      'f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8',
  ],
  [
    'ES384 of RFC 6979',
    ec(
      'P-384',
      'ec3a4e415b4e19a4568618029f427fa5da9a8bc4ae92e02e06aae5286b300c64def8f0ea9055866064a254515480bc13',
      '8015d9b72d7d57244ea8ef9ac0c621896708a59367f9dfb9f54ca84b3f1c9db1288b231c3ae0d4fe7344fd2533264720',
    ),
    -35,
    utf8('sample'),
    '94edbb92a5ecb8aad4736e56c691916b3f88140666ce9fa73d64c4ea95ad133c81a648152e44acf96e36dd1e80fabe46' +
      '99ef4aeb15f178cea1fe40db2603138f130e740a19624526203b6351d0a3a94fa329c145786e679e7b82c71a38628ac8',
  ],
  [
    'ES512 of RFC 6979',
    ec(
      'P-521',
      '01894550d0785932e00eaa23b694f213f8c3121f86dc97a04e5a7167db4e5bcd371123d46e45db6b5d5370a7f20fb633155d38ffa16d2bd761dcac474b9a2f5023a4',
      '00493101c962cd4d2fddf782285e64584139c2f91b47f87ff82354d6630f746a28a0db25741b5b34a828008b22acc23f924faafbd4d33f81ea66956dfeaa2bfdfcf5',
    ),
    -36,
    utf8('sample'),
    '00c328fafcbd79dd77850370c46325d987cb525569fb63c5d3bc53950e6d4c5f174e25a1ee9017b5d450606add152b534931d7d4e8455cc91f9b15bf05ec36e377fa' +
      '00617cce7cf5064806c467f678d3b4080d6f1cc50af26ca209417308281b68af282623eaa63e5b5c0723d8b8c37ff0777b1a20f8ccb1dccc43997f1ee0e44da4a67a',
  ],
  [
    'EdDSA of RFC 8032',
    ed('fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025'),
    -8,
    fromHex('af82'),
    '6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac' +
      '18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a',
  ],
];

const ORDER_OF_ED25519 = ed25519.Point.Fn.ORDER;
const wide = (number: bigint, width: number) => fromHex(number.toString(16).padStart(2 * width, '0'));
const number = (bytes: Uint8Array) => BigInt(`0x${toHex(bytes)}`);
const littleEndian = (value: bigint) => wide(value, 32).reverse();

describe('a signature in plain JavaScript', () => {
  it.each(KNOWN)('verifies %s, and no other algorithm, message or signature', async (_, key, alg, message, hex) => {
    const signature = fromHex(hex);
    expect(await plainVerify(key, alg, message, signature)).toBe(true);
    for (const other of [-7, -8, -35, -36, -37, -257].filter((each) => each !== alg))
      expect(await plainVerify(key, other, message, signature)).toBe(false);
    expect(await plainVerify(key, alg, utf8('another'), signature)).toBe(false);
    const longer = concatBytes(signature, Uint8Array.of(0));
    for (const changed of [signature.subarray(1), new Uint8Array(), concatBytes(signature, signature), longer])
      expect(await plainVerify(key, alg, message, changed)).toBe(false);
  });

  const pairs = [
    ...(['P-256', 'P-384', 'P-521'] as const).map((curve) => newKeyPair({ type: 'ec', curve })),
    newKeyPair({ type: 'ed25519' }),
    newKeyPair({ type: 'rsa', bits: 2048 }),
  ].map(({ privateKey, publicKey }) => {
    const key = publicJwk(publicKey.export({ format: 'jwk' }));
    return { privateKey, key, alg: key.kty === 'RSA' ? -37 : curveRules(key.crv).alg };
  });
  const HASHES: Readonly<Record<number, string | null>> = {
    [-7]: 'sha256',
    [-35]: 'sha384',
    [-36]: 'sha512',
    [-8]: null,
  };

  it.each(pairs.map((pair) => [pair.alg, pair] as const))(
    'by the algorithm %i has the answer of Web Crypto, genuine or tampered',
    async (alg, { privateKey, key }) => {
      const hash = alg === -37 ? 'sha256' : HASHES[alg]!;
      const how = { key: privateKey, dsaEncoding: 'ieee-p1363', padding: 6, saltLength: 32 } as const;
      await fc.assert(
        fc.asyncProperty(
          fc.uint8Array({ maxLength: 200 }),
          fc.option(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 }))),
          async (message, change) => {
            const signature = new Uint8Array(sign(hash, message, alg === -37 ? how : { ...how, padding: undefined! }));
            if (change) signature[change[0] % signature.length]! ^= change[1];
            const answer = await plainVerify(key, alg, message, signature);
            expect(answer).toBe(await webCryptoVerify(key, alg, message, signature));
            expect(answer).toBe(change === null);
          },
        ),
        { numRuns: 30 },
      );
    },
  );

  it.each(['P-256', 'P-384', 'P-521'] as const)(
    'of %s may have a high s, and no r or s of zero or the order',
    async (crv) => {
      const { privateKey, key, alg } = pairs.find((pair) => pair.key.kty === 'EC' && pair.key.crv === crv)!;
      const { width } = CURVES[crv];
      const order = BigInt(`0x${CURVES[crv].order}`);
      const message = utf8('a statement');
      const good = new Uint8Array(sign(HASHES[alg]!, message, { key: privateKey, dsaEncoding: 'ieee-p1363' }));
      const [r, s] = [number(good.subarray(0, width)), number(good.subarray(width))];
      const rows: [bigint, bigint, boolean][] = [
        [r, order - s, true],
        [0n, s, false],
        [r, 0n, false],
        [0n, 0n, false],
        [order, s, false],
        [r, order, false],
      ];
      for (const [left, right, isGood] of rows)
        for (const verify of [plainVerify, webCryptoVerify]) {
          const signature = concatBytes(wide(left, width), wide(right, width));
          expect([left, right, await verify(key, alg, message, signature)]).toEqual([left, right, isGood]);
        }
    },
  );

  it('of a key that is not a point on its curve is refused', async () => {
    for (const crv of ['P-256', 'P-384', 'P-521'] as const) {
      const { width, alg } = curveRules(crv);
      const one = toBase64Url(wide(1n, width));
      const key = publicJwk({ kty: 'EC', crv, x: one, y: one });
      for (const verify of [plainVerify, webCryptoVerify])
        await expect(verify(key, alg, utf8('m'), new Uint8Array(2 * width).fill(1))).rejects.toMatchObject({
          code: 'key_invalid',
        });
    }
    // 2 is the y of no point of Ed25519.
    expect(await plainVerify(ed(toHex(littleEndian(2n))), -8, utf8('m'), new Uint8Array(64))).toBe(false);
  });

  it('of Ed25519 has an s below the order, and neither a key nor a commitment of small order', async () => {
    const { privateKey, key } = pairs.find((pair) => pair.key.kty === 'OKP')!;
    const message = utf8('a checkpoint');
    const good = new Uint8Array(sign(null, message, privateKey));
    const s = number(good.slice(32).reverse());
    const malleable = concatBytes(good.subarray(0, 32), littleEndian(s + ORDER_OF_ED25519));
    for (const verify of [plainVerify, webCryptoVerify]) expect(await verify(key, -8, message, malleable)).toBe(false);
    // The neutral point as key and commitment, with s = 0, would fit every message.
    const neutral = littleEndian(1n);
    const universal = concatBytes(neutral, new Uint8Array(32));
    expect(await plainVerify(key, -8, message, universal)).toBe(false);
  });

  // The verifiers' libraries do not agree: OpenSSL and Chromium accept these.
  it.each([
    ['plain JavaScript', plainVerify],
    ['Web Crypto', webCryptoVerify],
    ['OpenSSL', nodeVerify],
    ['OpenSSL apart', signatureFitsApart],
  ] as const)('of an Ed25519 key or commitment of small order fits no message in %s', async (_, verify) => {
    const neutral = littleEndian(1n);
    const universal = concatBytes(neutral, new Uint8Array(32));
    const messages = Array.from({ length: 32 }, (_each, at) => Uint8Array.of(at));
    const torsion = ed25519.Point.fromHex('26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05', true);
    const multiples = Array.from({ length: 8 }, (_each, at) => torsion.multiplyUnsafe(BigInt(at)).toHex());
    // The same points with the sign bit of a zero, and with the prime added to y.
    const odd = [1n, 2n ** 255n - 20n].map((y) => y | (1n << 255n));
    const other = [0n, 1n].flatMap((y) => [y + 2n ** 255n - 19n, (y + 2n ** 255n - 19n) | (1n << 255n)]);
    for (const point of [...multiples, ...[...odd, ...other].map((y) => toHex(littleEndian(y)))])
      for (const message of messages)
        expect([point, await verify(ed(point), -8, message, universal)]).toEqual([point, false]);

    // A signature whose commitment is the neutral point: its signer gave its secret away.
    const secret = 7n;
    const key = ed25519.Point.BASE.multiply(secret).toBytes();
    const challenge = number(sha512(concatBytes(neutral, key, messages[0]!)).reverse()) % ORDER_OF_ED25519;
    const signature = concatBytes(neutral, littleEndian((challenge * secret) % ORDER_OF_ED25519));
    expect(await verify(ed(toHex(key)), -8, messages[0]!, signature)).toBe(false);
  });

  it.each([
    ['plain JavaScript', plainVerify],
    ['Web Crypto', webCryptoVerify],
    ['OpenSSL', nodeVerify],
    ['OpenSSL apart', signatureFitsApart],
  ] as const)('of Ed25519 stays as it is while %s checks it, and fits in whatever kind of array', async (_, verify) => {
    const { privateKey, key } = pairs.find((pair) => pair.key.kty === 'OKP')!;
    for (let message = 0; message < 16; message += 1) {
      const signature = sign(null, Uint8Array.of(message), privateKey);
      const before = Uint8Array.from(signature);
      expect([message, await verify(key, -8, Uint8Array.of(message), signature)]).toEqual([message, true]);
      expect(Uint8Array.from(signature)).toEqual(before);
    }
  });

  it('of Ed25519 that fits only after the cofactor is refused, as Web Crypto does', async () => {
    const message = utf8('a checkpoint');
    const { Point } = ed25519;
    const torsion = Point.fromHex('26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05', true);
    expect([torsion.isSmallOrder(), torsion.is0()]).toEqual([true, false]);
    const secret = 7n;
    // A key with a part of small order: the equation with the cofactor holds for it, the one without does not.
    const mixed = Point.BASE.multiply(secret).add(torsion).toBytes();
    const commitment = Point.BASE.multiply(11n).toBytes();
    const challenge = number(sha512(concatBytes(commitment, mixed, message)).reverse()) % ORDER_OF_ED25519;
    const s = littleEndian((11n + challenge * secret) % ORDER_OF_ED25519);
    const signature = concatBytes(commitment, s);
    expect(ed25519.verify(signature, message, mixed, { zip215: false })).toBe(true);
    for (const verify of [plainVerify, webCryptoVerify])
      expect(await verify(ed(toHex(mixed)), -8, message, signature)).toBe(challenge % 8n === 0n);
  });
});
