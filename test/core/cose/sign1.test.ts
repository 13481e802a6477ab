// cose-kit checks what we sign; why it does not sign is in docs/design/dependencies.md.
import { coseVerify } from 'cose-kit';
import fc from 'fast-check';
import { importJWK } from 'jose';
import { describe, expect, it } from 'vitest';
import { concatBytes, toHex, utf8 } from '../../../src/core/bytes.js';
import { Algorithm } from '../../../src/core/cose/algorithms.js';
import { type CborMap, type CborValue, encodeCbor } from '../../../src/core/cose/cbor.js';
import { keyThumbprint } from '../../../src/core/cose/cose-key.js';
import { Header, SIGN1_TAG } from '../../../src/core/cose/labels.js';
import { createSign1, decodeSign1, encodeSign1, type Sign1, signatureInput } from '../../../src/core/cose/sign1.js';
import { type Sign1Check, verifySign1 } from '../../../src/core/cose/verify-sign1.js';
import { readFixture, type TestKeys } from './read-fixture.js';
import { softwareSigner } from './software-signer.js';

const KEYS = readFixture<TestKeys>('keys');
const signers = {
  ES256: softwareSigner(KEYS.issuer),
  ES384: softwareSigner(KEYS.sealer384),
  EdDSA: softwareSigner(KEYS.ed25519),
};
const signer = signers.ES256;
const stranger = softwareSigner(KEYS.stranger);
const payload = utf8('a payload');

function header(...more: [number, CborValue][]): CborMap {
  return new Map<number, CborValue>([[Header.alg, signer.alg], [Header.kid, signer.kid], ...more]);
}

const check: Sign1Check = {
  what: 'the message',
  keys: [signer.publicKey],
  understood: [Header.alg, Header.kid],
  untrusted: 'issuer_key_not_trusted',
  invalid: 'statement_signature_invalid',
};

/** A message whose signature is right for whatever header it is given. */
async function signedUnder(
  protectedHeader: CborMap | Uint8Array,
  unprotectedHeader: CborMap = new Map(),
  by = signer,
): Promise<Uint8Array> {
  const protectedBytes = protectedHeader instanceof Uint8Array ? protectedHeader : encodeCbor(protectedHeader);
  const signature = await by.sign(signatureInput(protectedBytes, payload));
  return encodeSign1({ protectedBytes, unprotectedHeader, payload, signature });
}

describe('COSE_Sign1', () => {
  it('has the bytes of an array of its parts, and so has what is signed, whatever their lengths', () => {
    for (const length of [0, 23, 24, 255, 256, 65_535, 65_536]) {
      const bytes = new Uint8Array(length).fill(7);
      const none = new Uint8Array(0);
      expect(toHex(signatureInput(bytes, bytes))).toBe(toHex(encodeCbor(['Signature1', bytes, none, bytes])));
      for (const unprotectedHeader of [new Map(), new Map([[1, length]])])
        for (const each of [bytes, null]) {
          const parts = { protectedBytes: bytes, unprotectedHeader, payload: each, signature: bytes };
          expect(toHex(encodeSign1(parts))).toBe(
            toHex(concatBytes(Uint8Array.of(0xc0 | SIGN1_TAG), encodeCbor([bytes, unprotectedHeader, each, bytes]))),
          );
        }
    }
  });

  it.each(Object.keys(signers) as (keyof typeof signers)[])('of %s verifies in an independent library', async (alg) => {
    const by = signers[alg];
    const made = await createSign1(
      new Map<number, CborValue>([
        [Header.alg, by.alg],
        [Header.kid, by.kid],
      ]),
      payload,
      by,
    );
    const key = await importJWK({ ...by.publicKey }, alg);
    const { isValid } = await coseVerify(encodeSign1(made), key as Parameters<typeof coseVerify>[1]);
    expect(isValid).toBe(true);
    await expect(verifySign1(made, payload, { ...check, keys: [by.publicKey] })).resolves.toEqual(by.publicKey);
  });

  it('round-trips every header, payload and signature byte for byte', () => {
    const label = fc.oneof(fc.integer({ min: -70000, max: 70000 }), fc.string({ maxLength: 8 }));
    const value = fc.oneof(
      fc.integer(),
      fc.string(),
      fc.uint8Array({ maxLength: 40 }),
      fc.boolean(),
      fc.constant(null),
    );
    const map = fc.uniqueArray(fc.tuple(label, value), { maxLength: 6, selector: ([key]) => `${typeof key}${key}` });
    fc.assert(
      fc.property(map, map, fc.option(fc.uint8Array()), fc.uint8Array(), (inside, outside, body, signature) => {
        const protectedHeader: CborMap = new Map(inside);
        const unprotectedHeader: CborMap = new Map(outside.filter(([key]) => !protectedHeader.has(key)));
        const parts = { protectedBytes: encodeCbor(protectedHeader), unprotectedHeader, payload: body, signature };
        const wire = encodeSign1(parts);
        expect(wire[0]).toBe(0xd2);
        expect(decodeSign1(wire)).toEqual({ ...parts, protectedHeader });
        expect(toHex(encodeSign1(decodeSign1(wire)))).toBe(toHex(wire));
      }),
    );
  });

  it('verifies protected headers as they were encoded, in whatever order', async () => {
    const kid = encodeCbor(signer.kid);
    const unsorted = concatBytes(Uint8Array.of(0xa2, 0x04), kid, Uint8Array.of(0x01, 0x26));
    const wire = await signedUnder(unsorted);
    await expect(verifySign1(decodeSign1(wire), payload, check)).resolves.toEqual(signer.publicKey);
  });

  it('is only made under the signer’s own algorithm and key', async () => {
    await expect(createSign1(new Map([[Header.alg, Algorithm.es384]]), payload, signer)).rejects.toThrow(TypeError);
    const other: CborMap = new Map<number, CborValue>([
      [Header.alg, signer.alg],
      [Header.kid, stranger.kid],
    ]);
    await expect(createSign1(other, payload, signer)).rejects.toThrow(TypeError);
  });

  const bytes = encodeCbor(header());
  const wireOf = (...parts: CborValue[]) => concatBytes(Uint8Array.of(0xd2), encodeCbor(parts));
  const signature = new Uint8Array(64);
  it.each<[string, Uint8Array]>([
    ['no tag', wireOf(bytes, new Map(), payload, signature).subarray(1)],
    ['another tag', concatBytes(Uint8Array.of(0xd1), encodeCbor([bytes, new Map(), payload, signature]))],
    ['three parts', wireOf(bytes, new Map(), payload)],
    ['five parts', wireOf(bytes, new Map(), payload, signature, null)],
    ['a protected header that is a map', wireOf(header(), new Map(), payload, signature)],
    ['a protected header that holds no map', wireOf(encodeCbor([1]), new Map(), payload, signature)],
    ['bytes after the protected map', wireOf(concatBytes(bytes, Uint8Array.of(0)), new Map(), payload, signature)],
    [
      'a label twice in the protected header',
      wireOf(Uint8Array.of(0xa2, 1, 0x26, 1, 0x27), new Map(), payload, signature),
    ],
    ['a label in both headers', wireOf(bytes, new Map([[Header.alg, -7]]), payload, signature)],
    ['an unprotected header that is no map', wireOf(bytes, null, payload, signature)],
    ['an undefined unprotected header', Uint8Array.of(0xd2, 0x84, 0x40, 0xf7, 0xf6, 0x40)],
    ['a payload that is text', wireOf(bytes, new Map(), 'payload', signature)],
    ['a signature that is null', wireOf(bytes, new Map(), payload, null)],
    ['bytes after the end', concatBytes(wireOf(bytes, new Map(), payload, signature), Uint8Array.of(0))],
    ['a truncated end', wireOf(bytes, new Map(), payload, signature).subarray(0, -1)],
  ])('is refused with %s', (_, wire) => {
    expect(() => decodeSign1(wire)).toThrow(expect.objectContaining({ code: 'malformed' }));
  });
});

const ORDER = 'ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551';
const one = `${'00'.repeat(31)}01`;
const fromHexText = (text: string) => Uint8Array.from(text.match(/../g)!, (pair) => Number.parseInt(pair, 16));

describe('verifySign1', () => {
  it.each<[string, string, () => Promise<Uint8Array>]>([
    [
      'alg none',
      'algorithm_not_allowed',
      () =>
        signedUnder(
          new Map<number, CborValue>([
            [1, 0],
            [4, signer.kid],
          ]),
        ),
    ],
    [
      'alg as text',
      'algorithm_not_allowed',
      () =>
        signedUnder(
          new Map<number, CborValue>([
            [1, 'ES256'],
            [4, signer.kid],
          ]),
        ),
    ],
    ['no alg', 'algorithm_not_allowed', () => signedUnder(new Map<number, CborValue>([[4, signer.kid]]))],
    [
      'alg in the unprotected header alone',
      'algorithm_not_allowed',
      () => signedUnder(new Map<number, CborValue>([[4, signer.kid]]), new Map([[1, signer.alg]])),
    ],
    [
      'an HMAC algorithm',
      'algorithm_not_allowed',
      () =>
        signedUnder(
          new Map<number, CborValue>([
            [1, 5],
            [4, signer.kid],
          ]),
        ),
    ],
    [
      'RS256',
      'algorithm_not_allowed',
      () =>
        signedUnder(
          new Map<number, CborValue>([
            [1, -257],
            [4, signer.kid],
          ]),
        ),
    ],
    [
      'an allowed algorithm that is not its key’s',
      'algorithm_not_allowed',
      () =>
        signedUnder(
          new Map<number, CborValue>([
            [1, Algorithm.es384],
            [4, signer.kid],
          ]),
        ),
    ],
    ['an unknown critical header', 'critical_header_unknown', () => signedUnder(header([2, [99]], [99, 'x']))],
    ['a critical header that is text', 'critical_header_unknown', () => signedUnder(header([2, ['kid']]))],
    ['a critical header that is absent', 'critical_header_unknown', () => signedUnder(header([2, [16]]))],
    ['an empty crit', 'critical_header_unknown', () => signedUnder(header([2, []]))],
    ['an unprotected crit', 'critical_header_unknown', () => signedUnder(header(), new Map([[2, [1]]]))],
    ['no kid', 'issuer_key_not_trusted', () => signedUnder(new Map([[1, signer.alg]]))],
    [
      'a kid in the unprotected header alone',
      'issuer_key_not_trusted',
      () => signedUnder(new Map([[1, signer.alg]]), new Map([[4, signer.kid]])),
    ],
    [
      'a stranger’s kid and signature',
      'issuer_key_not_trusted',
      () =>
        signedUnder(
          new Map<number, CborValue>([
            [1, -7],
            [4, stranger.kid],
          ]),
          new Map(),
          stranger,
        ),
    ],
    [
      'a stranger’s signature under a trusted kid',
      'statement_signature_invalid',
      () => signedUnder(header(), new Map(), stranger),
    ],
  ])('refuses %s', async (_, code, make) => {
    await expect(verifySign1(decodeSign1(await make()), payload, check)).rejects.toMatchObject({ code });
  });

  it.each<[string, (good: Uint8Array) => Uint8Array]>([
    ['empty', () => new Uint8Array(0)],
    ['a byte short', (good) => good.subarray(0, 63)],
    ['a byte long', (good) => concatBytes(good, Uint8Array.of(0))],
    ['padded in front', (good) => concatBytes(Uint8Array.of(0), good)],
    ['in DER', () => fromHexText(`3044${'0220'.concat(one)}${'0220'.concat(one)}`)],
    ['of r zero', (good) => concatBytes(new Uint8Array(32), good.subarray(32))],
    ['of s zero', (good) => concatBytes(good.subarray(0, 32), new Uint8Array(32))],
    ['all zero', () => new Uint8Array(64)],
    ['of r equal to the group order', (good) => concatBytes(fromHexText(ORDER), good.subarray(32))],
    ['of s equal to the group order', (good) => concatBytes(good.subarray(0, 32), fromHexText(ORDER))],
    ['of s beyond the group order', (good) => concatBytes(good.subarray(0, 32), new Uint8Array(32).fill(0xff))],
  ])('refuses a signature that is %s before anything is computed', async (_, forge) => {
    const good = decodeSign1(await signedUnder(header()));
    const forged: Sign1 = { ...good, signature: forge(good.signature) };
    const verifySignature = () => expect.unreachable('a signature of the wrong shape was passed on');
    await expect(verifySign1(forged, payload, { ...check, verifySignature })).rejects.toMatchObject({
      code: 'signature_malformed',
    });
  });

  it('accepts a critical header that the caller understands', async () => {
    const wire = await signedUnder(header([2, [4]]));
    await expect(verifySign1(decodeSign1(wire), payload, check)).resolves.toEqual(signer.publicKey);
  });

  it('refuses another payload, and any changed protected byte', async () => {
    const good = decodeSign1(await signedUnder(header()));
    const refused = expect.objectContaining({ code: 'statement_signature_invalid' });
    await expect(verifySign1(good, utf8('b payload'), check)).rejects.toEqual(refused);
    const other = { ...good, protectedBytes: encodeCbor(header([16, 'x'])) };
    await expect(verifySign1(other, payload, check)).rejects.toEqual(refused);
  });

  it('finds a key by its thumbprint or by the kid it was given', async () => {
    const named = { ...signer.publicKey, kid: 'key-one' };
    const byName = decodeSign1(
      await signedUnder(
        new Map<number, CborValue>([
          [1, -7],
          [4, utf8('key-one')],
        ]),
      ),
    );
    await expect(verifySign1(byName, payload, { ...check, keys: [named] })).resolves.toBe(named);
    const byThumbprint = decodeSign1(await signedUnder(header()));
    await expect(verifySign1(byThumbprint, payload, { ...check, keys: [named] })).resolves.toBe(named);
    expect(keyThumbprint(named)).toEqual(signer.kid);
  });

  it('tries every trusted key of one kid', async () => {
    const twins = [stranger.publicKey, signer.publicKey].map((key) => ({ ...key, kid: 'twin' }));
    const wire = await signedUnder(
      new Map<number, CborValue>([
        [1, -7],
        [4, utf8('twin')],
      ]),
    );
    await expect(verifySign1(decodeSign1(wire), payload, { ...check, keys: twins })).resolves.toBe(twins[1]);
  });

  it('says so when a trusted key is not on its curve', async () => {
    const broken = { ...signer.publicKey, x: stranger.publicKey.x, kid: 'broken' };
    const wire = await signedUnder(
      new Map<number, CborValue>([
        [1, -7],
        [4, utf8('broken')],
      ]),
    );
    await expect(verifySign1(decodeSign1(wire), payload, { ...check, keys: [broken] })).rejects.toMatchObject({
      code: 'key_invalid',
    });
  });
});
