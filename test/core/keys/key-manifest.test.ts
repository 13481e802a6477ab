import { verify as verifyWithNode } from 'node:crypto';
import { decode, encode } from 'cborg';
import fc from 'fast-check';
import { calculateJwkThumbprint } from 'jose';
import { describe, expect, it } from 'vitest';
import { fromHex, toBase64Url, toHex } from '../../../src/core/bytes.js';
import { keyThumbprint } from '../../../src/core/cose/cose-key.js';
import { encodeSign1 } from '../../../src/core/cose/sign1.js';
import { VerificationError } from '../../../src/core/errors.js';
import type { KeyManifest } from '../../../src/core/keys/key-manifest.js';
import { namedKey } from '../../../src/core/keys/manifest-key.js';
import { readKeyManifest } from '../../../src/core/keys/read-key-manifest.js';
import { signKeyManifest } from '../../../src/core/keys/sign-key-manifest.js';
import { certifyTenancyKey, verifyTenancyKey } from '../../../src/core/keys/tenancy-key-certificate.js';
import {
  decodeKeyManifests,
  encodeKeyManifests,
  joinKeyManifests,
  manifestJwks,
  verifyKeyManifests,
  verifyNextKeyManifest,
} from '../../../src/core/keys/verify-key-manifests.js';
import { LAST_TIME_MS } from '../../../src/core/last-time.js';
import { sha256 } from '../../../src/core/sha256.js';
import { nodeVerify } from '../../../src/platform/keys/node-verify.js';
import { readFixtureFile } from '../../support/read-fixture-file.js';
import { stepsFrom, withEndedKeys } from './contradicting-manifests.js';
import { firstManifest, nextManifest, sampleRoot } from './sample-manifests.js';

interface Known {
  readonly roots: { jwk: Record<string, string>; thumbprint: string; fingerprint: string }[];
  readonly manifests: { number: number; root: number; sha256: string; bytes: string }[];
  readonly file: string;
  /** Manifest 2 after manifest 1, and what cannot be manifest 3 after it. */
  readonly contradicting: { before: string; after: { step: string; bytes: string }[] };
  readonly tenancy_key: { issuer_key: Record<string, string>; certificate: string; key_id: string };
}
const known = readFixtureFile<Known>('keys/key-manifests.json');
const bytesOf = known.manifests.map(({ bytes }) => fromHex(bytes)) as [Uint8Array, Uint8Array, Uint8Array];
const [old, next, stranger] = [sampleRoot(1), sampleRoot(2), sampleRoot(3)];
const thumbprint = keyThumbprint(old.publicKey);

const codeOf = (work: () => unknown) =>
  Promise.resolve()
    .then(work)
    .then(
      () => 'accepted',
      (error: unknown) => {
        if (error instanceof VerificationError) return error.code;
        throw error;
      },
    );
const read = (...manifests: Uint8Array[]) => decodeKeyManifests(encodeKeyManifests(manifests));
const trust = (manifests: Uint8Array[], root = thumbprint) =>
  codeOf(() => verifyKeyManifests(read(...manifests), root));

describe('a key manifest', () => {
  it('meets the known answers to the byte', async () => {
    const one = firstManifest(old.publicKey);
    const first = await signKeyManifest(one, old);
    const two = nextManifest(one, sha256(first), next.publicKey);
    const second = await signKeyManifest(two, old);
    const third = await signKeyManifest(nextManifest(two, sha256(second), next.publicKey), next);
    expect([first, second, third].map(toHex)).toEqual(known.manifests.map(({ bytes }) => bytes));
    expect([first, second, third].map((each) => toHex(sha256(each)))).toEqual(
      known.manifests.map((each) => each.sha256),
    );
    expect(toHex(encodeKeyManifests([second, third]))).toBe(known.file);
    for (const each of [first, second, third]) expect(toHex(readKeyManifest(each).bytes)).toBe(toHex(each));
    expect(readKeyManifest(second).manifest).toEqual({ ...two, keys: expect.arrayContaining([...two.keys]) });
    expect(readKeyManifest(second).manifest.keys).toHaveLength(two.keys.length);
  });

  it('is a COSE_Sign1 that another CBOR library and OpenSSL read and verify', () => {
    const [protectedBytes, unprotected, payload, signature] = decode(bytesOf[0].subarray(1), {
      useMaps: true,
    }) as [Uint8Array, Map<number, unknown>, Uint8Array, Uint8Array];
    expect(unprotected.size).toBe(0);
    const message = encode(['Signature1', protectedBytes, new Uint8Array(), payload]);
    const key = { key: known.roots[0]!.jwk, format: 'jwk', dsaEncoding: 'ieee-p1363' } as const;
    expect(verifyWithNode('sha256', message, key as never, signature)).toBe(true);
    const map = decode(payload, { useMaps: true }) as Map<number, unknown>;
    expect([map.get(1), map.get(2), map.get(5)]).toEqual([1, 1, null]);
    expect((map.get(7) as Map<number, unknown>[]).map((each) => each.get(1))).toEqual([
      'chain',
      'issuer',
      'note',
      'seal',
      'statement_receipt',
      'token',
    ]);
  });

  it('names RSA and secp256k1 keys by the thumbprint of RFC 7638, and the others by that of RFC 9679', async () => {
    for (const { jwk, keyId, algorithm } of readKeyManifest(bytesOf[0]).manifest.keys)
      expect(keyId).toBe(
        algorithm === 'ES256' || algorithm === 'EdDSA'
          ? toBase64Url(keyThumbprint(jwk as never))
          : await calculateJwkThumbprint({ ...jwk }),
      );
  });

  it('is trusted by the fingerprint of its root, and across a rotation that the old root signed', async () => {
    const newest = (await verifyKeyManifests(read(...bytesOf), thumbprint, nodeVerify)).at(-1)!;
    expect(newest.manifest.number).toBe(3);
    expect(await trust([bytesOf[1], bytesOf[2]])).toBe('accepted');
    expect(await trust([bytesOf[2]], keyThumbprint(next.publicKey))).toBe('accepted');
    expect(await trust([...bytesOf], keyThumbprint(next.publicKey))).toBe('accepted');
  });

  it('is refused without the rotation in between, by another root, or after the root was rotated away', async () => {
    expect(await trust([bytesOf[2]])).toBe('root_not_trusted');
    expect(await trust([...bytesOf], keyThumbprint(stranger.publicKey))).toBe('root_not_trusted');
    const two = readKeyManifest(bytesOf[1]).manifest;
    const stolen = await signKeyManifest(nextManifest(two, sha256(bytesOf[1]), old.publicKey), old);
    expect(await trust([bytesOf[0], bytesOf[1], stolen])).toBe('root_not_trusted');
  });

  it('is refused when it does not follow the one before', async () => {
    const one = { ...readKeyManifest(bytesOf[0]).manifest };
    const [before] = await verifyKeyManifests(read(bytesOf[0]), thumbprint);
    const after = async (manifest: KeyManifest, by = old) =>
      codeOf(async () => verifyNextKeyManifest(before!, await signKeyManifest(manifest, by)));
    const fitting = nextManifest(one, sha256(bytesOf[0]), old.publicKey);
    expect(await after(fitting)).toBe('accepted');
    expect(await after({ ...fitting, previous: sha256(bytesOf[1]) })).toBe('manifest_invalid');
    expect(await after({ ...fitting, number: 3 })).toBe('manifest_invalid');
    expect(await after({ ...fitting, subject: 'log/another' })).toBe('manifest_invalid');
    expect(await after(one)).toBe('manifest_older');
    expect(await after(fitting, stranger)).toBe('root_not_trusted');
  });

  describe('that another one precedes', async () => {
    const one = readKeyManifest(bytesOf[0]).manifest;
    const two = {
      ...withEndedKeys(one, { retired: 'seal', revoked: 'issuer' }),
      previous: sha256(bytesOf[0]),
    };
    const second = await signKeyManifest(two, old);
    const [, before] = await verifyKeyManifests(read(bytesOf[0], second), thumbprint, nodeVerify);
    const { good, contradicting } = stepsFrom(readKeyManifest(second).manifest);
    const numbered = (to: Partial<KeyManifest>, number: number) =>
      signKeyManifest({ ...two, previous: sha256(second), ...to, number }, old);
    /** How each verifier of a chain answers: the next one, a file without and with a gap, and two files. */
    const told = async (to: Partial<KeyManifest>) => {
      const [third, ninth] = [await numbered(to, 3), await numbered(to, 9)];
      const chain = (...manifests: Uint8Array[]) => verifyKeyManifests(read(...manifests), thumbprint, nodeVerify);
      return Promise.all([
        codeOf(() => verifyNextKeyManifest(before!, third, nodeVerify)),
        codeOf(() => chain(bytesOf[0], second, third)),
        codeOf(() => chain(second, ninth)),
        codeOf(async () => joinKeyManifests([await chain(ninth), await chain(second)])),
      ]);
    };

    it.each(good.map(({ step, to }) => [step, to] as const))('is accepted if %s', async (_, to) => {
      expect(new Set(await told(to))).toEqual(new Set(['accepted']));
    });

    it.each(contradicting.map(({ step, to }) => [step, to] as const))('is refused if %s', async (_, to) => {
      expect(new Set(await told(to))).toEqual(new Set(['manifest_invalid']));
    });

    it('is refused if a log is removed', async () => {
      const [first] = await verifyKeyManifests(read(bytesOf[0]), thumbprint);
      const after = async (logs: KeyManifest['logs']) => {
        const manifest = { ...one, number: 2, previous: sha256(bytesOf[0]), logs };
        return codeOf(async () => verifyNextKeyManifest(first!, await signKeyManifest(manifest, old)));
      };
      expect(await after(one.logs)).toBe('accepted');
      expect(await after(one.logs.slice(1))).toBe('manifest_invalid');
    });

    it('is refused in the known answers', async () => {
      const after = contradicting.map(async ({ step, to }) => ({ step, bytes: toHex(await numbered(to, 3)) }));
      expect(known.contradicting).toEqual({ before: toHex(second), after: await Promise.all(after) });
    });
  });

  it('is refused with a key that was revoked at a larger size than a log has, or in a log that is not listed', async () => {
    const two = readKeyManifest(bytesOf[1]).manifest;
    const at = (revokedAt: Record<string, bigint>) =>
      codeOf(async () => {
        const keys = two.keys.map((key) => (key.state === 'revoked' ? { ...key, revokedAt } : key));
        return readKeyManifest(await signKeyManifest({ ...two, keys }, old));
      });
    const [, { name, size }] = two.logs as [unknown, KeyManifest['logs'][number]];
    expect(await at({ [name]: size })).toBe('accepted');
    expect(await at({ [name]: size + 1n })).toBe('malformed');
    expect(await at({ 'log/another': 0n })).toBe('malformed');
  });

  it('is of one history, in however many files it was given', async () => {
    const [one, two] = [bytesOf[0], bytesOf[1]].map((bytes) => readKeyManifest(bytes).manifest) as [
      KeyManifest,
      KeyManifest,
    ];
    const chain = async (...manifests: Uint8Array[]) => verifyKeyManifests(read(...manifests), thumbprint);
    const joined = async (...files: Uint8Array[][]) =>
      joinKeyManifests(await Promise.all(files.map((each) => chain(...each))));
    const withTwo = async (change: Partial<KeyManifest>, by = old) =>
      codeOf(async () =>
        joined([bytesOf[1], bytesOf[2]], [bytesOf[0]], [await signKeyManifest({ ...two, ...change }, by)]),
      );
    const all = await joined([bytesOf[1], bytesOf[2]], [bytesOf[0]], [bytesOf[0], bytesOf[1]]);
    expect(all.map(({ manifest }) => manifest.number)).toEqual([1, 2, 3]);

    expect(await withTwo({ issuedAtMs: two.issuedAtMs + 1 }), 'a second one of its number').toBe('manifest_invalid');
    expect(await withTwo({ number: 4, previous: sha256(bytesOf[1]) }), 'after its root was rotated away').toBe(
      'root_not_trusted',
    );
    const beside = async (change: Partial<KeyManifest>) =>
      codeOf(async () => joined([bytesOf[0]], [await signKeyManifest({ ...two, ...change }, old)]));
    expect(await beside({})).toBe('accepted');
    expect(await beside({ previous: sha256(bytesOf[1]) }), 'after another first one').toBe('manifest_invalid');
    expect(await beside({ number: 9, subject: 'log/another' }), 'of another keys log').toBe('manifest_invalid');
    expect(await beside({ number: 9, issuedAtMs: one.issuedAtMs - 1, firstIssuedAtMs: one.issuedAtMs - 1 })).toBe(
      'manifest_invalid',
    );
    expect(await beside({ number: 9, firstIssuedAtMs: one.issuedAtMs - 1 }), 'with another beginning').toBe(
      'manifest_invalid',
    );
  });

  it('is refused in every other form of the same content', async () => {
    const { sign1 } = readKeyManifest(bytesOf[0]);
    const payload = decode(sign1.payload!, { useMaps: true }) as Map<number, unknown>;
    const keys = payload.get(7) as Map<number, unknown>[];
    const logs = payload.get(8) as Map<number, unknown>[];
    const changed = (label: number, value: unknown) => new Map(payload).set(label, value);
    const withKey = (label: number, value: unknown) =>
      changed(7, [new Map(keys[0]!).set(label, value), ...keys.slice(1)]);
    const [active] = keys;
    const forms: Map<number, unknown>[] = [
      changed(1, 2),
      changed(2, 0),
      changed(2, 2),
      changed(3, -1),
      changed(4, (payload.get(3) as number) + 1),
      changed(5, new Uint8Array(32)),
      changed(6, null),
      changed(7, keys.toReversed()),
      changed(7, [...keys, active]),
      changed(8, [...logs, logs[0]]),
      changed(9, 'more'),
      withKey(1, 7),
      withKey(3, 'stolen'),
      withKey(3, 'retired'),
      withKey(3, 'pending'),
      withKey(5, 1_760_000_000_001),
      withKey(6, 2),
      changed(7, [
        new Map(active!).set(2, new Map(active!.get(2) as Map<number, unknown>).set(2, new Uint8Array(32))),
        ...keys.slice(1),
      ]),
    ];
    for (const form of forms) {
      const message = encodeSign1({ ...sign1, payload: encode(form) });
      expect(await codeOf(() => readKeyManifest(message))).toMatch(/^(malformed|unsupported|key_invalid)$/);
    }
  });

  it('is refused with a time that RFC 3339 cannot write', async () => {
    const one = firstManifest(old.publicKey);
    const issued = (issuedAtMs: number) => signKeyManifest({ ...one, issuedAtMs }, old);
    expect(await codeOf(async () => readKeyManifest(await issued(LAST_TIME_MS)))).toBe('accepted');
    expect(await codeOf(async () => readKeyManifest(await issued(LAST_TIME_MS + 1)))).toBe('malformed');
  });

  it('is refused with any bit changed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(bytesOf[2].length * 8 - 1), async (bit) => {
        const bytes = bytesOf[2].slice();
        bytes[bit >> 3]! ^= 1 << (bit & 7);
        const root = keyThumbprint(next.publicKey);
        expect(await codeOf(() => verifyKeyManifests(decodeKeyManifests(bytes), root, nodeVerify))).not.toBe(
          'accepted',
        );
      }),
      { numRuns: 400 },
    );
  });

  it('gives the keys of roles that can sign evidence, revoked ones only when they are asked for', () => {
    const { manifest } = readKeyManifest(bytesOf[2]);
    expect(manifestJwks(manifest, ['issuer'])).toHaveLength(1);
    expect(manifestJwks(manifest, ['issuer'], ['revoked'])).toHaveLength(2);
    expect(manifestJwks(manifest, ['chain', 'token'])).toEqual([]);
    expect(manifestJwks(manifest, ['seal', 'statement_receipt']).every(({ kid }) => kid !== undefined)).toBe(true);
  });
});

describe('the certificate of a tenancy’s key', () => {
  const TENANT = '0199c2d0-0000-7000-8000-0000000000aa';
  const issuer = sampleRoot(11);
  const key = {
    tenantId: TENANT,
    role: 'tessera',
    validFromMs: 1_760_000_000_000,
    ...namedKey(sampleRoot(30).publicKey as unknown as Record<string, string>),
  };

  it('meets the known answer and names tenancy, role and key', async () => {
    const certificate = await certifyTenancyKey(key, 'did:web:archive.example:archivist:v1:didweb', issuer);
    expect(toHex(certificate)).toBe(known.tenancy_key.certificate);
    expect(await verifyTenancyKey(certificate, [issuer.publicKey])).toEqual(key);
    expect(key.keyId).toBe(known.tenancy_key.key_id);
  });

  it('is refused by another issuer key, and with any byte changed', async () => {
    const certificate = fromHex(known.tenancy_key.certificate);
    expect(await codeOf(() => verifyTenancyKey(certificate, [stranger.publicKey]))).toBe('issuer_key_not_trusted');
    for (const place of certificate.keys()) {
      const changed = certificate.slice();
      changed[place]! ^= 0x10;
      expect(await codeOf(() => verifyTenancyKey(changed, [issuer.publicKey], nodeVerify))).not.toBe('accepted');
    }
  });
});
