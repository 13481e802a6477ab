import { createPublicKey, verify } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { calculateJwkThumbprint } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toBase64Url } from '../../../src/core/bytes.js';
import { keyThumbprint } from '../../../src/core/cose/cose-key.js';
import { publicJwk } from '../../../src/core/cose/public-key.js';
import { sha256 } from '../../../src/core/sha256.js';
import { keyFiles } from '../../../src/platform/keys/key-files.js';
import { fits, verifiesAs } from '../../../src/platform/keys/key-fit.js';
import { KEY_KINDS, type KeyRole } from '../../../src/platform/keys/key-role.js';
import type { KeyStore, PrivateKey, StoredKey } from '../../../src/platform/keys/key-store.js';
import { openModuleKeys } from '../../../src/platform/keys/pkcs11/module-keys.js';
import { softhsm } from '../../support/prerequisites.js';
import { makeSofthsmTokens } from '../../support/softhsm-tokens.js';

const ROLES = Object.keys(KEY_KINDS) as KeyRole[];
const digest = (number: number) => sha256(Uint8Array.of(number));

/** A place for keys that can be opened as often as processes do. */
interface Provider {
  readonly name: string;
  readonly place: PrivateKey['place'];
  begin(): Promise<{ open(): Promise<KeyStore>; end(): Promise<void> }>;
}

const folder: Provider = {
  name: 'a folder',
  place: 'file',
  async begin() {
    const path = await mkdtemp(join(tmpdir(), 'key-store-'));
    return { open: async () => keyFiles(path), end: () => rm(path, { recursive: true }) };
  },
};
const module: Provider = {
  name: 'a PKCS #11 module',
  place: 'module',
  async begin() {
    const tokens = await makeSofthsmTokens(['other', 'archive']);
    Object.assign(process.env, tokens.environment);
    return { open: () => openModuleKeys(tokens.token('archive')), end: tokens.remove };
  },
};

describe.each(softhsm ? [folder, module] : [folder])('keys in $name', (provider) => {
  let place: Awaited<ReturnType<Provider['begin']>>;
  let store: KeyStore;
  beforeAll(async () => {
    place = await provider.begin();
    store = await place.open();
  });
  afterAll(async () => {
    await store.close();
    await place.end();
  });

  async function made(role: KeyRole): Promise<{ stored: StoredKey; key: PrivateKey }> {
    const stored = { role, ...(await store.generate(role)) };
    return { stored, key: (await store.open(stored))! };
  }

  it.each(['issuer', 'statement_receipt', 'seal', 'tessera'] as const)('sign ES256 as r ‖ s: %s', async (role) => {
    const { stored, key } = await made(role);
    const signature = await key.sign(digest(1));
    expect([key.place, signature.length]).toEqual([provider.place, 64]);
    expect(Object.keys(stored.publicJwk).sort()).toEqual(['crv', 'kty', 'x', 'y']);
    expect(stored.keyId).toBe(toBase64Url(keyThumbprint(publicJwk(stored.publicJwk))));
    const publicKey = createPublicKey({ key: stored.publicJwk, format: 'jwk' });
    expect(verify('sha256', digest(1), { key: publicKey, dsaEncoding: 'ieee-p1363' }, signature)).toBe(true);
  });

  it('sign EdDSA', async () => {
    const { stored, key } = await made('note');
    const signature = await key.sign(digest(2));
    expect(Object.keys(stored.publicJwk).sort()).toEqual(['crv', 'kty', 'x']);
    expect(verify(null, digest(2), createPublicKey({ key: stored.publicJwk, format: 'jwk' }), signature)).toBe(true);
  });

  it('sign RS256 with 2048 bits', async () => {
    const { stored, key } = await made('token');
    const signature = await key.sign(digest(3));
    expect(Object.keys(stored.publicJwk).sort()).toEqual(['e', 'kty', 'n']);
    expect([signature.length, stored.publicJwk['e']]).toEqual([256, 'AQAB']);
    expect(stored.keyId).toBe(await calculateJwkThumbprint(stored.publicJwk));
    const publicKey = createPublicKey({ key: stored.publicJwk, format: 'jwk' });
    expect(verify('sha256', digest(3), publicKey, signature)).toBe(true);
  });

  it.each(['chain', 'wallet'] as const)('sign digests over secp256k1, s low, and say whose: %s', async (role) => {
    const { stored, key } = await made(role);
    for (let number = 0; number < 12; number += 1) {
      const signature = secp256k1.Signature.fromBytes(await key.sign(digest(number)), 'recovered');
      expect(signature.hasHighS()).toBe(false);
      const point = signature.recoverPublicKey(digest(number)).toBytes(false);
      expect([toBase64Url(point.slice(1, 33)), toBase64Url(point.slice(33))]).toEqual([
        stored.publicJwk['x'],
        stored.publicJwk['y'],
      ]);
    }
  });

  it('sign for whoever asks at the same time, each its own message', async () => {
    const keys = await Promise.all(ROLES.map(made));
    const asked = Array.from({ length: 64 }, (_, number) => ({ number, key: keys[number % keys.length]! }));
    const signed = await Promise.all(asked.map(({ key, number }) => key.key.sign(digest(number))));
    for (const [place, { key, number }] of asked.entries()) {
      expect(verifiesAs(key.stored.publicJwk, digest(number), signed[place]!)).toBe(true);
      expect(verifiesAs(key.stored.publicJwk, digest(number + 1), signed[place]!)).toBe(false);
    }
  });

  it('are there for everybody who opens the place, and after it was closed', async () => {
    const { stored } = await made('seal');
    const again = await place.open();
    expect(await fits(stored.publicJwk, (await again.open(stored))!)).toBe(true);
    await again.close();
    expect(await fits(stored.publicJwk, (await store.open(stored))!)).toBe(true);
  });

  it('fit their own public halves and no others', async () => {
    for (const role of ['seal', 'note', 'token', 'chain'] as const) {
      const [one, other] = await Promise.all([made(role), made(role)]);
      expect(await fits(one.stored.publicJwk, one.key)).toBe(true);
      expect(await fits(one.stored.publicJwk, other.key)).toBe(false);
    }
  });

  it('are undefined where they are not, with advice to somebody who looks for them', async () => {
    const { stored } = await made('seal');
    const elsewhere = { ...stored, keyId: toBase64Url(digest(9)) };
    expect(await store.open(elsewhere)).toBeUndefined();
    expect(store.advice(elsewhere.keyId)).toMatch(/KEYS_DIR|KEY_PROVIDER/);
  });
});
