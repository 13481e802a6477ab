import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { draftManifest } from '../../../src/archivist/keys/issue-manifest.js';
import { openRootKey } from '../../../src/archivist/keys/root-key.js';
import { rotateDeploymentKey } from '../../../src/archivist/operator/manage-keys.js';
import { proposeManifest, publishManifest } from '../../../src/archivist/operator/offline-root.js';
import { fromBase64, toBase64, toHex } from '../../../src/core/bytes.js';
import type { ManifestKey } from '../../../src/core/keys/key-manifest.js';
import { namedKey } from '../../../src/core/keys/manifest-key.js';
import { completeKeyManifest, signKeyManifest } from '../../../src/core/keys/sign-key-manifest.js';
import { fileObjectStore } from '../../../src/platform/file-object-store.js';
import { openKeyManifests } from '../../../src/platform/keys/manifest/key-manifests.js';
import { manifestFile } from '../../../src/platform/keys/manifest/manifest-file.js';
import { manifestObjectKey } from '../../../src/platform/keys/manifest/manifest-objects.js';
import { newKeyPair } from '../../../src/platform/keys/new-key-pair.js';
import { nodeVerify } from '../../../src/platform/keys/node-verify.js';
import type { ObjectStore } from '../../../src/platform/object-store.js';
import { startTestService, type TestService } from '../../api/test-service.js';
import { sampleRoot } from '../../core/keys/sample-manifests.js';

const PATIENCE = { timeout: 40_000, interval: 50 };
const STRANGER = '01900000-0000-7000-8000-00000000000f';
type Change = Parameters<typeof proposeManifest>[1];

let running: TestService;
let keysDir: string;
beforeAll(async () => {
  keysDir = await mkdtemp(join(tmpdir(), 'offline-root-'));
  running = await startTestService({ KEYS_DIR: keysDir });
  // One retired key, and one that was stolen.
  await rotateDeploymentKey(deps(), 'note');
  await rotateDeploymentKey(deps(), 'note', true);
}, 60_000);
afterAll(async () => {
  await running?.close();
  await rm(keysDir, { recursive: true });
});

const deps = () => running.service.parts.keys;
const current = () => deps().manifests.current.manifest;
const note = (state: ManifestKey['state']) => current().keys.find((key) => key.role === 'note' && key.state === state)!;
const propose = (change: Omit<Change, 'stolen'>) => proposeManifest(deps(), { stolen: false, ...change });
/** The root key signs whatever it is given. */
const signed = async (unsigned: Uint8Array) =>
  toBase64(await completeKeyManifest(unsigned, (await openRootKey(deps().keys, current().root))!));
/** Signs a manifest with these keys and submits it. */
const publishKeys = async (keys: readonly ManifestKey[]) =>
  publishManifest(deps(), await signed(await draftManifest(deps(), deps().manifests.current, { keys })));
const newJwk = () =>
  newKeyPair({ type: 'ed25519' }).publicKey.export({ format: 'jwk' }) as unknown as Record<string, string>;

describe('a change is not proposed', () => {
  const rsa = newKeyPair({ type: 'rsa', bits: 2048 }).publicKey.export({ format: 'jwk' });
  const ROOT = /^root: must be the JWK of an EC or Ed25519 public key/;
  it.each<[string, Omit<Change, 'stolen'>, string, RegExp]>([
    ['a rotation without its role', { change: 'rotate' }, 'bad_request', /^role: is required for this change/],
    ['an activation without its role', { change: 'activate' }, 'bad_request', /^role: is required for this change/],
    ['a revocation without its key', { change: 'revoke' }, 'bad_request', /^key_id: is required for this change/],
    ['a new root without its key', { change: 'root' }, 'bad_request', /^root: is required for this change/],
    ['a root key of RSA, which signs no manifest', { change: 'root', root: { ...rsa } }, 'bad_request', ROOT],
    [
      'a root key without its second coordinate',
      { change: 'root', root: { kty: 'EC', crv: 'P-256', x: 'AA' } },
      'bad_request',
      ROOT,
    ],
    [
      'an activation where no key is pending',
      { change: 'activate', role: 'seal' },
      'not_found',
      /^The role seal has no pending key: propose to rotate it first/,
    ],
  ])('%s', async (_, change, code, message) => {
    await expect(propose(change)).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  });
});

describe('a manifest is not accepted, though the root key has signed it,', () => {
  const replaced = (keyId: string, ...by: ManifestKey[]) =>
    current().keys.flatMap((key) => (key.keyId === keyId ? by : [key]));
  const retired = (key: ManifestKey): ManifestKey => ({ ...key, state: 'retired', validUntilMs: Date.now() });
  const fresh = (jwk = newJwk()): ManifestKey => ({
    role: 'note',
    ...namedKey(jwk),
    state: 'pending',
    validFromMs: Date.now(),
    since: current().number + 1,
  });

  it.each<[string, () => readonly ManifestKey[] | Promise<readonly ManifestKey[]>, RegExp]>([
    [
      'without a key that was listed: what it signed would have no key',
      () => replaced(note('retired').keyId),
      /key \S+ is missing; keys are never removed/,
    ],
    [
      'with a stolen key that is revoked at other sizes: more of what the thief signed could count',
      () => replaced(note('revoked').keyId, { ...note('revoked'), revokedAt: {} }),
      /key \S+ was revoked at other sizes/,
    ],
    [
      'with a stolen key that is only retired',
      () => {
        const { revokedAt: _, ...key } = note('revoked');
        return replaced(key.keyId, { ...key, state: 'retired' });
      },
      /key \S+ (was revoked at other sizes|cannot become retired)/,
    ],
    [
      'with a retired key that signs again',
      () => {
        const { validUntilMs: _, ...key } = note('retired');
        const again = replaced(key.keyId, { ...key, state: 'active' });
        return again.map((each) => (each.keyId === note('active').keyId ? retired(each) : each));
      },
      /key \S+ cannot become active/,
    ],
    [
      'with a retired key that ended later',
      () => replaced(note('retired').keyId, { ...note('retired'), validUntilMs: note('retired').validUntilMs! + 1 }),
      /key \S+ has a later end than before/,
    ],
    [
      'with a key that is older than it was',
      () => replaced(note('retired').keyId, { ...note('retired'), validFromMs: 1 }),
      /key \S+ has another role or another beginning than before/,
    ],
    [
      'with a key in another role',
      () => replaced(note('retired').keyId, { ...note('retired'), role: 'seal' }),
      /key \S+ has another role or another beginning than before/,
    ],
    [
      'with a new key that signs at once: nobody would know it yet',
      () => replaced(note('active').keyId, retired(note('active')), { ...fresh(), state: 'active' }),
      /key \S+ is new and not pending/,
    ],
    ['with a new key that is not here', () => [...current().keys, fresh()], /key \S+ has no private half here/],
    [
      'with a new key under whose name another one is here',
      async () => {
        const key = fresh();
        await copyFile(join(keysDir, `${note('active').keyId}.pem`), join(keysDir, `${key.keyId}.pem`));
        return [...current().keys, key];
      },
      /key \S+ has no private half here/,
    ],
  ])('%s', async (_, keys, message) => {
    const { number } = current();
    await expect(publishKeys(await keys())).rejects.toMatchObject({
      code: 'bad_request',
      message: expect.stringMatching(message),
    });
    expect(current().number).toBe(number);
  });
});

describe('a key that is pending', () => {
  let pending: ManifestKey;
  beforeAll(async () => {
    await publishManifest(
      deps(),
      await signed(fromBase64((await propose({ change: 'rotate', role: 'seal' })).manifest)),
    );
    pending = current().keys.find(({ role, state }) => role === 'seal' && state === 'pending')!;
  });
  const adopted = (number: number) =>
    running.asOwner(
      `INSERT INTO archivist.key_follower (tenant_id, process_id, number, seen_at)
       VALUES ('${running.service.parts.deployment.deploymentTenancy}', '${STRANGER}', ${number}, clock_timestamp())
       ON CONFLICT (tenant_id, process_id) DO UPDATE SET number = excluded.number`,
    );

  it('is not proposed a second time', async () => {
    await expect(propose({ change: 'rotate', role: 'seal' })).rejects.toMatchObject({
      code: 'conflict',
      message: 'The role seal has a pending key already: propose to activate it.',
    });
  });

  it('does not sign before every process knows it, by either command: nobody would trust its first signatures', async () => {
    const proposed = await vi.waitFor(() => propose({ change: 'activate', role: 'seal' }), PATIENCE);
    const activation = await signed(fromBase64(proposed.manifest));
    await adopted(1);
    const { number } = current();
    const refused = {
      code: 'conflict',
      message: `The key may not sign yet: 1 running process has not adopted key manifest ${number} yet. Try again.`,
    };
    await expect(propose({ change: 'activate', role: 'seal' })).rejects.toMatchObject(refused);
    await expect(publishManifest(deps(), activation)).rejects.toMatchObject(refused);
    expect(current().number).toBe(number);
  });

  it('is the one that a rotation on the service itself then activates', async () => {
    await adopted(current().number);
    const { active } = await rotateDeploymentKey(deps(), 'seal');
    expect(active.key_id).toBe(pending.keyId);
    const states = current().keys.filter(({ role }) => role === 'seal');
    expect(states.map(({ state }) => state).sort()).toEqual(['active', 'retired']);
  });
});

describe('the newest key manifest', () => {
  it('is a fault where the database has another one of its number', async () => {
    const { number } = current();
    const bytes = toHex(deps().manifests.current.bytes);
    const put = (manifest: string) =>
      running.asOwner(`UPDATE archivist.key_manifest SET manifest = ${manifest} WHERE number = ${number}`);
    await put(`manifest || '\\x00'`);
    await vi.waitFor(
      () => expect(deps().faults()).toContain(`key manifest ${number} differs from the one in the database`),
      PATIENCE,
    );
    await put(`'\\x${bytes}'`);
    expect(toHex(deps().manifests.current.bytes)).toBe(bytes);
  });

  /** Starts from these bytes in `KEYS_DIR`, with an object store that has these bytes as the newest manifest. */
  async function opened(inKeysDir: Uint8Array, inStore?: Uint8Array, ofNumber = current().number) {
    const { database, deployment } = running.service.parts;
    const { deploymentTenancy } = deployment;
    const file = manifestFile(await mkdtemp(join(keysDir, 'other-')), deploymentTenancy);
    await file.replace(inKeysDir);
    const own = fileObjectStore(join(running.environment.DATA_DIR, 'objects'));
    const damagedKey = manifestObjectKey(current().subject, ofNumber);
    const damaged: ObjectStore = {
      ...own,
      get: async (key) => (key === damagedKey ? inStore : own.get(key)),
      putNew: async (key, bytes) => (key === damagedKey ? 'different' : own.putNew(key, bytes)),
    };
    const objectStore = inStore ? damaged : own;
    const manifests = openKeyManifests({ database, objectStore, file, verifySignature: nodeVerify, deploymentTenancy });
    return { file, manifests };
  }
  const newest = () => deps().manifests.current.bytes;
  const flipped = (bytes: Uint8Array) => bytes.with(-1, bytes.at(-1)! ^ 1);

  it('is refused in KEYS_DIR where its signature is damaged: the file and the way out are named', async () => {
    const { file, manifests } = await opened(flipped(newest()));
    await expect(manifests).rejects.toThrow(
      `${file.path} cannot be used (the signature of key manifest ${current().number} does not match its content): restore it from the newest backup of KEYS_DIR (docs/operate/keys.md)`,
    );
  });

  const DAMAGED = 'in the object store is damaged (';
  const WAY_OUT = '): restore it from a copy of the object store (docs/operate/keys.md';

  it.each<[string, (bytes: Uint8Array) => Uint8Array]>([
    ['cut off', (bytes) => bytes.subarray(0, 100)],
    ['empty', () => new Uint8Array()],
    ['with another signature', flipped],
  ])('is damaged in the object store, not forged, if it is %s', async (_, damage) => {
    const { manifests } = await opened(newest(), damage(newest()));
    const told = await manifests.then(
      () => '',
      (error: Error) => error.message,
    );
    expect(told).toContain(`${manifestObjectKey(current().subject, current().number)} ${DAMAGED}`);
    expect(told).toContain(WAY_OUT);
  });

  it('is told as forged in the object store if another root key has signed it', async () => {
    const { manifest } = deps().manifests.current;
    const stranger = sampleRoot(9);
    const { manifests } = await opened(
      newest(),
      await signKeyManifest({ ...manifest, root: stranger.publicKey }, stranger),
    );
    await expect(manifests).rejects.toThrow('the root key has signed two, or one of both is forged');
  });

  it('is a fault where the next one in the object store is damaged', async () => {
    const { manifests } = await opened(newest(), newest().subarray(0, 100), current().number + 1);
    const { faults } = await manifests;
    expect(faults).toEqual([expect.stringContaining(DAMAGED)]);
    expect(faults[0]).toContain(WAY_OUT);
  });
});
