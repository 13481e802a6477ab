import { describe, expect, it } from 'vitest';
import { fromHex, toBase64Url, toHex, utf8 } from '../../../src/core/bytes.js';
import { HashAlgorithm } from '../../../src/core/cose/algorithms.js';
import { type CborMap, type CborValue, encodeCbor } from '../../../src/core/cose/cbor.js';
import { Header } from '../../../src/core/cose/labels.js';
import { publicJwk } from '../../../src/core/cose/public-key.js';
import { createSign1, decodeSign1, encodeSign1 } from '../../../src/core/cose/sign1.js';
import { sha256 } from '../../../src/core/sha256.js';
import { readStatement, statementHeader } from '../../../src/core/statement/signed-statement.js';
import { statementEntry } from '../../../src/core/statement/statement-entry.js';
import { readTemplate } from '../../../src/core/statement/vcon-template.js';
import { verifyStatement } from '../../../src/core/verify/verify-statement.js';
import { ALGORITHMS, sampleIssuer, sampleStatement } from '../../scitt/sample-statement.js';
import { type HexKey, readFixture, type TestKeys } from '../cose/read-fixture.js';
import { softwareSigner } from '../cose/software-signer.js';

interface KnownEnvelope {
  readonly preimage_utf8: string;
  readonly payload: string;
  readonly hex: string;
}

interface Known {
  readonly key: HexKey;
  readonly finalLabels: KnownEnvelope;
  readonly privateLabels: KnownEnvelope;
  readonly undefinedUnprotected: string;
}

const KEYS = readFixture<TestKeys>('keys');
const signer = softwareSigner(KEYS.issuer);
const subject = 'vcon://0192e8f5-0000-7000-8000-000000000001';
const template = readTemplate({
  payload: toHex(sha256(utf8('{"vcon":"0.3.0"}'))),
  payload_hash_alg: 'SHA-256',
  payload_preimage_content_type: 'application/vcon',
  subject,
  vcon_operation: 'vcon_created',
})!;

async function statement(header: CborMap = statementHeader(template, { ...signer, issuer: 'did:web:a' })) {
  return encodeSign1(await createSign1(header, template.payload, signer));
}

function header(...members: [number, CborValue][]): CborMap {
  return new Map<number, CborValue>([[Header.alg, signer.alg], [Header.kid, signer.kid], ...members]);
}

describe('a statement made from a template', () => {
  it('is the same hash envelope under the registered labels where those are asked for', async () => {
    const registered = statementHeader(template, { ...signer, issuer: 'did:web:a', labels: 'registered' });
    expect([258, 259, -6800, -6802].map((label) => registered.get(label))).toEqual([
      -16,
      'application/vcon',
      undefined,
      undefined,
    ]);
    const { payloadHash, payloadHashAlg, preimageContentType, meta } = readStatement(await statement(registered));
    const read = readStatement(await statement());
    expect({ payloadHash, payloadHashAlg, preimageContentType, meta }).toEqual({
      payloadHash: read.payloadHash,
      payloadHashAlg: read.payloadHashAlg,
      preimageContentType: read.preimageContentType,
      meta: read.meta,
    });
  });

  it('has the interface’s labels and leaves out what the template leaves out', () => {
    expect(statementHeader(template, { ...signer, issuer: 'did:web:a' })).toEqual(
      new Map<number, CborValue>([
        [1, -7],
        [4, signer.kid],
        [
          15,
          new Map([
            [1, 'did:web:a'],
            [2, subject],
          ]),
        ],
        [16, 'application/hashed+cose'],
        [-6800, -16],
        [-6802, 'application/vcon'],
        [-6804, new Map([['vcon_operation', 'vcon_created']])],
      ]),
    );
  });

  it('reads back as what it was made from, and verifies', async () => {
    const read = await verifyStatement(await statement(), { issuerKeys: [signer.publicKey] });
    expect(read).toMatchObject({
      issuer: 'did:web:a',
      subject,
      kid: signer.kid,
      payloadHash: template.payload,
      payloadHashAlg: HashAlgorithm.sha256,
      preimageContentType: 'application/vcon',
      meta: new Map([['vcon_operation', 'vcon_created']]),
    });
  });

  it('carries a payload location when there is one', () => {
    const located = readTemplate({
      payload: toHex(template.payload),
      payload_hash_alg: 'SHA-256',
      subject,
      payload_location: 'https://store.example/1',
    })!;
    expect(statementHeader(located, { ...signer, issuer: 'a' }).get(-6801)).toBe('https://store.example/1');
  });
});

describe('known hash envelopes', () => {
  const { key, finalLabels, privateLabels, undefinedUnprotected } = readFixture<Known>('hash-envelopes');
  const coordinates = { x: toBase64Url(fromHex(key.x)), y: toBase64Url(fromHex(key.y)) };
  const issuerKeys = [{ kty: 'EC', crv: 'P-256', ...coordinates } as const];

  it.each([
    ['final', finalLabels],
    ['private', privateLabels],
  ])('with %s labels verify and say the same', async (_, vector) => {
    const read = await verifyStatement(fromHex(vector.hex), { issuerKeys });
    expect(read).toMatchObject({
      issuer: 'https://issuer.example',
      subject: 'artifact-1',
      payloadHashAlg: HashAlgorithm.sha256,
      preimageContentType: 'application/json',
      payloadLocation: 'https://store.example/a1',
    });
    expect(toHex(read.payloadHash!)).toBe(vector.payload);
    expect(toHex(sha256(utf8(vector.preimage_utf8)))).toBe(vector.payload);
  });

  it('with an undefined unprotected header are refused', () => {
    expect(() => readStatement(fromHex(undefinedUnprotected))).toThrow(expect.objectContaining({ code: 'malformed' }));
  });

  it('are never verified with the key that they carry', async () => {
    const stranger = softwareSigner(KEYS.stranger);
    await expect(
      verifyStatement(fromHex(privateLabels.hex), { issuerKeys: [stranger.publicKey] }),
    ).rejects.toMatchObject({ code: 'issuer_key_not_trusted' });
  });
});

describe('a statement that names no key', () => {
  it.each(['ES256', 'ES384', 'EdDSA', 'PS256'] as const)(
    'is verified by any given key of its algorithm, and not called changed if its key is not given: %s',
    async (name) => {
      const nameless = { confirmation: false, headers: new Map([[4, undefined]]) } as const;
      const [issuer, stranger] = [sampleIssuer(ALGORITHMS[name]), sampleIssuer()];
      const bytes = sampleStatement(issuer, nameless);
      const [own, another] = [issuer, stranger].map((each) => publicJwk(each.publicKey.export({ format: 'jwk' })));
      const { key } = await verifyStatement(bytes, { issuerKeys: [another!, own!] });
      expect(key).toEqual(own);
      const refused = { code: 'issuer_key_not_trusted', message: expect.stringContaining('or it was changed') };
      await expect(verifyStatement(bytes, { issuerKeys: [another!] })).rejects.toMatchObject(refused);
    },
  );
});

describe('readStatement', () => {
  const claims = (issuer: string): CborMap => new Map([[1, issuer]]);

  it('takes claims at label 15, or at 13 as before RFC 9597', async () => {
    expect(readStatement(await statement(header([13, claims('old')])))).toMatchObject({ issuer: 'old' });
    expect(readStatement(await statement(header([13, claims('new')], [15, claims('new')])))).toMatchObject({
      issuer: 'new',
    });
    const contradictory = await statement(header([13, claims('old')], [15, claims('new')]));
    expect(() => readStatement(contradictory)).toThrow(expect.objectContaining({ code: 'malformed' }));
  });

  it('compares the claims at both labels whatever they hold, also an integer that the writer does not write', () => {
    // {1: "a", 8: {−2^64: 0, "k": h'00'}}, and the entries of the inner map in the other order.
    const [claimed, reordered] = [
      'a2016161 08a23bffffffffffffffff00 616b4100',
      'a2016161 08a2616b4100 3bffffffffffffffff00',
    ];
    const read = (at13: string, at15: string) => {
      const protectedBytes = fromHex(`a20d${at13}0f${at15}`.replaceAll(' ', ''));
      const parts = { protectedBytes, unprotectedHeader: new Map(), payload: new Uint8Array(32) };
      return () => readStatement(encodeSign1({ ...parts, signature: new Uint8Array(64) }));
    };
    expect(read(claimed, reordered)()).toMatchObject({ issuer: 'a' });
    expect(read(claimed, claimed.replace('ff00', 'ff01'))).toThrow(expect.objectContaining({ code: 'malformed' }));
  });

  it('does not take a kcwt at label 13 for claims', async () => {
    expect(readStatement(await statement(header([13, utf8('kcwt')])))).not.toHaveProperty('issuer');
  });

  it('takes the null location and the number in the meta-map of stock clients', async () => {
    const meta = new Map<string, CborValue>([['project', 25]]);
    const read = readStatement(await statement(header([-6800, -16], [-6801, null], [-6804, meta])));
    expect(read.meta).toEqual(meta);
    expect(read).not.toHaveProperty('payloadLocation');
  });

  it('sees no digest in a statement that is no hash envelope', async () => {
    expect(readStatement(await statement(header([3, 'application/json'])))).not.toHaveProperty('payloadHash');
  });

  it.each<[string, CborMap, CborMap]>([
    ['final and private labels that contradict each other', header([258, -16], [-6800, -43]), new Map()],
    ['a hash algorithm that is no number', header([-6800, 'SHA-256']), new Map()],
    ['an unprotected hash algorithm', header(), new Map([[258, -16]])],
    ['an unprotected location', header([258, -16]), new Map([[260, 'https://evil.example']])],
    ['a hash envelope with a content type', header([258, -16], [3, 'a/b']), new Map()],
  ])('refuses %s', (_, protectedHeader, unprotectedHeader) => {
    const protectedBytes = encodeCbor(protectedHeader);
    const wire = encodeSign1({
      protectedBytes,
      unprotectedHeader,
      payload: new Uint8Array(32),
      signature: new Uint8Array(64),
    });
    expect(() => readStatement(wire)).toThrow(expect.objectContaining({ code: 'malformed' }));
  });
});

describe('verifyStatement', () => {
  it('refuses a detached payload', async () => {
    const detached = encodeSign1({ ...decodeSign1(await statement()), payload: null });
    await expect(verifyStatement(detached, { issuerKeys: [signer.publicKey] })).rejects.toMatchObject({
      code: 'malformed',
    });
  });

  it('refuses any other payload', async () => {
    const other = encodeSign1({ ...decodeSign1(await statement()), payload: new Uint8Array(32) });
    await expect(verifyStatement(other, { issuerKeys: [signer.publicKey] })).rejects.toMatchObject({
      code: 'statement_signature_invalid',
    });
  });
});

describe('the entry of a statement', () => {
  it('is the tagged message without its unprotected header, all else byte for byte', async () => {
    const plain = await statement();
    const dressed = encodeSign1({ ...decodeSign1(plain), unprotectedHeader: new Map([[394, [utf8('receipt')]]]) });
    expect(toHex(statementEntry(dressed))).toBe(toHex(plain));
    expect(toHex(statementEntry(plain))).toBe(toHex(plain));
  });
});
