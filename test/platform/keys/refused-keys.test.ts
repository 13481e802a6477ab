import { createPublicKey, sign } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fromBase64, utf8 } from '../../../src/core/bytes.js';
import { publicJwk } from '../../../src/core/cose/public-key.js';
import { chainKey } from '../../../src/platform/keys/chain-key.js';
import { keyFiles } from '../../../src/platform/keys/key-files.js';
import { newKeyPair } from '../../../src/platform/keys/new-key-pair.js';
import { nodePrivateKey } from '../../../src/platform/keys/node-private-key.js';
import { nodeVerify, signatureFitsApart } from '../../../src/platform/keys/node-verify.js';
import { KEY_MECHANISMS } from '../../../src/platform/keys/pkcs11/key-mechanism.js';

const P256 = newKeyPair({ type: 'ec', curve: 'P-256' });
const jwkOf = (key: typeof P256.publicKey) => key.export({ format: 'jwk' }) as Record<string, string>;

describe('the folder of keys', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'refused-keys-'));
    await mkdir(join(folder, 'keys'));
    await writeFile(join(folder, 'outside.pem'), P256.privateKey.export({ type: 'pkcs8', format: 'pem' }));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it.each(['../outside', 'a/../../outside', '', '.', 'a\0'])(
    'opens no file by the id %j, which a row of the database may have: it is not the id of a key',
    async (keyId) => {
      const open = keyFiles(join(folder, 'keys')).open({ role: 'wallet', keyId, publicJwk: jwkOf(P256.publicKey) });
      await expect(open).rejects.toThrow('not a key id');
    },
  );

  it('never writes over a key', async () => {
    const files = keyFiles(join(folder, 'keys'), async () => P256);
    const { keyId } = await files.generate('seal');
    const path = join(folder, 'keys', `${keyId}.pem`);
    await writeFile(path, 'as it is');
    await expect(files.generate('seal')).rejects.toThrow(`there is a key ${keyId} already`);
    expect([await readFile(path, 'utf8'), await readdir(join(folder, 'keys'))]).toEqual(['as it is', [`${keyId}.pem`]]);
  });
});

describe('a signature', () => {
  const message = utf8('a message');
  const p256 = publicJwk(jwkOf(P256.publicKey));
  const signature = sign('sha256', message, { key: P256.privateKey, dsaEncoding: 'ieee-p1363' });
  const ES256 = -7;

  it.each([
    ['an algorithm of a larger curve', p256, -35],
    ['an algorithm of another kind of key', p256, -8],
    ['an algorithm that nobody knows', p256, -70_000],
    ['a key that is no point of its curve', { ...p256, x: 'AA'.repeat(21) + 'A' }, ES256],
  ])('is none with %s', async (_, jwk, alg) => {
    for (const verify of [nodeVerify, signatureFitsApart]) {
      expect(await verify(p256, ES256, message, signature)).toBe(true);
      expect(await verify(jwk, alg, message, signature)).toBe(false);
    }
  });
});

describe('a public half', () => {
  it('of another curve is no key of the chain: it would have another address', () => {
    expect(() => chainKey(jwkOf(P256.publicKey), nodePrivateKey(P256.privateKey))).toThrow(
      'the chain key is a secp256k1 key',
    );
  });

  const { x, y } = jwkOf(P256.publicKey);
  const [px, py] = [fromBase64(x!), fromBase64(y!)];
  const shownAs = (algorithm: string, point: readonly number[]) =>
    KEY_MECHANISMS[algorithm]!.publicJwk(async () => Uint8Array.from(point));

  it('is taken from a module as a point, in an OCTET STRING or bare', async () => {
    for (const wrapping of [[0x04, 65], []]) {
      const jwk = await shownAs('ES256', [...wrapping, 0x04, ...px, ...py]);
      expect(createPublicKey({ key: jwk, format: 'jwk' }).equals(P256.publicKey)).toBe(true);
    }
  });

  it.each([
    ['ES256', 'compressed', [0x02, ...px]],
    ['ES256', 'compressed in an OCTET STRING', [0x04, 33, 0x02, ...px]],
    ['ES256', 'in the hybrid form', [0x06, ...px, ...py]],
    ['ES256', 'cut short', [0x04, ...px]],
    ['EdDSA', 'of another length', [...px, 0]],
    ['ES256', 'empty', []],
  ])('that a module shows for %s %s is refused', async (algorithm, _, point) => {
    await expect(shownAs(algorithm, point)).rejects.toThrow('the module shows no uncompressed public key');
  });
});
