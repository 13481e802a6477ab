import { createPrivateKey } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keyFiles } from '../../src/platform/keys/key-files.js';
import { rotateKey } from '../../src/platform/keys/rotate-key.js';
import { type OwnTokenKey, ownTokenKey } from './own-token-key.js';
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

/** A token of the new key over the owner's claims, as another process would issue it. */
async function rotate(): Promise<string> {
  const { database, deployment } = running.service.parts;
  await database.inTransaction('system', (tx) =>
    rotateKey(tx, keyFiles(keysDir), deployment.deploymentTenancy, 'token', new Date()),
  );
  let kid = '';
  await database.inTransaction('system', async (tx) => {
    const [row] = await tx.query<{ kid: string }>(
      `SELECT key_id AS kid FROM archivist.signing_key WHERE role = 'token' AND state = 'active'`,
    );
    kid = row!.kid;
  });
  return new SignJWT(decodeJwt(running.owner.token))
    .setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', kid })
    .sign(createPrivateKey(await readFile(join(keysDir, `${kid}.pem`))));
}

describe('the token key', () => {
  it('can be replaced while the service runs: its tokens live on, and those of the new key are good at once', async () => {
    const ofNewKey = await rotate();
    await pause();
    expect(await statusOf(ofNewKey)).toBe(200);
    expect(await statusOf(await old.sign({ jti: 'another' }))).toBe(200);
    const { token } = await running.client({});
    expect(kidOf(token)).toBe(kidOf(ofNewKey));
    expect(await statusOf(token)).toBe(200);
    expect(await published()).toEqual(expect.arrayContaining([kidOf(token), kidOf(running.owner.token)]));
  });

  it('signs no token that outlives its own retirement by more than their hour', async () => {
    await running.asOwner(
      `UPDATE archivist.signing_key SET valid_until = now() - interval '63 minutes' WHERE role = 'token' AND state = 'retired'`,
    );
    const ofNewKey = await rotate();
    await pause();
    expect(await statusOf(ofNewKey)).toBe(200);
    expect(await statusOf(await old.sign({ jti: 'too late' }))).toBe(401);
  });

  it('is looked for once a second at most, whoever invents names', async () => {
    await pause();
    expect(await statusOf(await old.sign({}, { kid: 'invented' }))).toBe(401);
    const ofNewKey = await rotate();
    expect(await statusOf(ofNewKey)).toBe(401);
    await pause();
    expect(await statusOf(ofNewKey)).toBe(200);
  });
});
