import { createPrivateKey } from 'node:crypto';
import { mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { manifestRows } from '../../src/platform/keys/manifest/manifest-rows.js';
import { newKeyPair } from '../../src/platform/keys/new-key-pair.js';
import type { OpenKeyring } from '../../src/platform/keys/open-keyring.js';
import { type OwnTokenKey, ownTokenKey } from './own-token-key.js';
import { rotateElsewhere } from './rotate-elsewhere.js';
import { clientWith, startTestService, type TestService } from './test-service.js';

const ASSETS = '/archivist/v2/assets';
let running: TestService;
let keysDir: string;
let old: OwnTokenKey;
beforeAll(async () => {
  keysDir = await mkdtemp(join(tmpdir(), 'keys-'));
  running = await startTestService({ KEYS_DIR: keysDir });
  old = await ownTokenKey(keysDir, running.owner.token);
});
afterAll(async () => {
  await running?.close();
  await rm(keysDir, { recursive: true, force: true });
});

const kidOf = (token: string) => decodeProtectedHeader(token).kid!;
const statusOf = async (token: string) => (await clientWith(running.url, token).get(ASSETS)).status;
const pause = () => new Promise((resolve) => setTimeout(resolve, 1_100));

async function published(): Promise<string[]> {
  const { json } = await running.anonymous.get('/.well-known/jwks.json');
  return (json['keys'] as { kid: string }[]).map((key) => key.kid);
}

/** A token of a key over the owner's claims, as another process would issue it. */
async function tokenOf(kid: string): Promise<string> {
  return new SignJWT(decodeJwt(running.owner.token))
    .setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', kid })
    .sign(createPrivateKey(await readFile(join(keysDir, `${kid}.pem`))));
}

const rotate = async (stolen = false) => tokenOf((await rotateElsewhere(running, 'token', stolen)).active.key_id);
const keyring = () => running.service.parts.keyring as OpenKeyring;
const listed = () => manifestRows(running.service.parts.keys.manifests.current.manifest);

describe('the token key', () => {
  it('can be replaced while the service runs: its tokens live on, and those of the new key are good at once', async () => {
    const ofNewKey = await rotate();
    expect(await statusOf(ofNewKey)).toBe(200);
    await pause();
    expect(await statusOf(await old.sign({ jti: 'another' }))).toBe(200);
    await vi.waitFor(async () => expect(kidOf((await running.client({})).token)).toBe(kidOf(ofNewKey)), 30_000);
    expect(await published()).toEqual(expect.arrayContaining([kidOf(ofNewKey), kidOf(running.owner.token)]));
  });

  it('is not called unknown while the keys cannot be read from the database', async () => {
    const unknown = await old.sign({}, { kid: 'unknown' });
    await running.asOwner('ALTER TABLE archivist.key_manifest RENAME TO away');
    const meanwhile = await statusOf(unknown);
    await running.asOwner('ALTER TABLE archivist.away RENAME TO key_manifest');
    expect([meanwhile, await statusOf(unknown)]).toEqual([500, 401]);
  });

  it('signs no token that outlives its own retirement by more than their hour', async () => {
    const past = new Date(Date.now() - 63 * 60_000);
    const aged = listed().map((row) => (row.role === 'token' && row.validUntil ? { ...row, validUntil: past } : row));
    await keyring().adopt(aged);
    expect(await statusOf(await old.sign({ jti: 'too late' }))).toBe(401);
    await keyring().adopt(listed());
    expect(await statusOf(await old.sign({ jti: 'in time' }))).toBe(200);
  });

  it('counts only where its private half is here: taking it away ends its tokens', async () => {
    const file = join(keysDir, `${kidOf(running.owner.token)}.pem`);
    await rename(file, `${file}.away`);
    await keyring().adopt(listed());
    expect(await statusOf(await old.sign({ jti: 'of a key that is not here' }))).toBe(401);
    expect(await published()).not.toContain(kidOf(running.owner.token));
    await rename(`${file}.away`, file);
    await keyring().adopt(listed());
  });

  it('refuses a name that nobody gave', async () => {
    expect(await statusOf(await old.sign({}, { kid: 'invented' }))).toBe(401);
  });

  it('ends every token at once when it is revoked, those that were accepted before too', async () => {
    const before = (await running.client({})).token;
    expect(await statusOf(before)).toBe(200);
    const ofNewKey = await rotate(true);
    await vi.waitFor(async () => expect(await statusOf(before)).toBe(401), 30_000);
    expect(await published()).not.toContain(kidOf(before));
    expect(await statusOf(ofNewKey)).toBe(200);
  });

  it('is nobody’s when only a row of the database has it, and the row is a loud fault', async () => {
    const { privateKey, publicKey } = newKeyPair({ type: 'rsa', bits: 2048 });
    const { n, e } = publicKey.export({ format: 'jwk' });
    await running.asOwner(
      `INSERT INTO archivist.signing_key (tenant_id, key_id, role, algorithm, public_jwk, state, valid_from)
       SELECT deployment_tenancy, 'stranger', 'token', 'RS256', '${JSON.stringify({ kty: 'RSA', n, e })}', 'retired', now()
         FROM archivist.deployment`,
    );
    const forged = await new SignJWT(decodeJwt((await running.client({ roles: ['OWNER'] })).token))
      .setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', kid: 'stranger' })
      .sign(privateKey);
    await running.service.parts.keys.adoptNow();
    expect(await statusOf(forged)).toBe(401);
    expect(await published()).not.toContain('stranger');
    await vi.waitFor(async () => {
      const { json } = await running.anonymous.get('/readyz');
      expect(JSON.stringify(json)).toContain('1 FAULTS');
    }, 40_000);
    await vi.waitFor(async () => {
      const { bytes } = await running.anonymous.get('/metrics');
      expect(new TextDecoder().decode(bytes)).toMatch(/archivist_key_faults 1\b/);
    }, 40_000);
  });
});
