import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { revokeKey, rotateDeploymentKey, rotateRoot } from '../../src/archivist/operator/manage-keys.js';
import { toBase64Url } from '../../src/core/bytes.js';
import { keyThumbprint } from '../../src/core/cose/cose-key.js';
import { decodeVkey, verifyNote } from '../../src/core/tlog/signed-note.js';
import type { Claim } from '../../src/core/verify/claim.js';
import type { Verdict } from '../../src/core/verify/verdict.js';
import { parseConfig } from '../../src/service/config/config.js';
import { startService } from '../../src/start-service.js';
import { clientOf, startTestService, type TestService, template } from '../api/test-service.js';
import { commandLine } from '../support/command-line.js';

const PATIENCE = { timeout: 60_000, interval: 200 };
const LONG = 120_000;
type Role = Parameters<typeof rotateDeploymentKey>[1];
let running: TestService;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keys-stolen-'));
  running = await startTestService();
}, LONG);
afterAll(async () => {
  await running?.close();
  await rm(folder, { recursive: true });
});

const deps = () => running.service.parts.keys;
const activeKey = (role: Role) =>
  deps().manifests.current.manifest.keys.find((key) => key.role === role && key.state === 'active')!;

/** Rotates the role as stolen. Resolves with the key that was active before. */
async function steal(role: Role): Promise<string> {
  const { keyId } = activeKey(role);
  await rotateDeploymentKey(deps(), role, true);
  return keyId;
}

/** A new event's transparent statement, in a file. */
async function statement(name: string): Promise<string> {
  return kept(name, await newEvent());
}

/** The identity of a new event. */
async function newEvent(): Promise<string> {
  const owner = await clientOf(running.url, running.owner.clientId, running.ownerSecret);
  const asset = await owner.post('/archivist/v2/assets', { attributes: {} });
  const event = await owner.post(`/archivist/v2/${asset.json['identity']}/events`, {
    operation: 'Record',
    behaviour: 'RecordEvidence',
    event_attributes: template('vcon://0190a8c0-0000-7000-8000-0000000000ac'),
  });
  return String(event.json['identity']);
}

/** An event's transparent statement as the service hands it out now, in a file. */
async function kept(name: string, identity: string): Promise<string> {
  const owner = await clientOf(running.url, running.owner.clientId, running.ownerSecret);
  return vi.waitFor(async () => {
    const answer = await owner.get(`/archivist/v2/${identity}/transparent-statement`);
    expect(answer.status).toBe(200);
    await writeFile(join(folder, name), answer.bytes);
    return join(folder, name);
  }, PATIENCE);
}

interface Answer {
  readonly exitCode: number;
  readonly kinds: readonly Claim['kind'][];
  readonly unproven: string;
}

/** The verdict by the newest manifest. */
async function verify(file: string): Promise<Answer> {
  const published = (await running.anonymous.get('/verifiabledata/keys/manifest')).bytes;
  return verifyWith(running.service.rootFingerprint, published, file);
}

async function verifyWith(root: string, published: Uint8Array, file: string): Promise<Answer> {
  const manifest = join(folder, 'manifest.cbor');
  await writeFile(manifest, published);
  const trust = ['--root', root, '--manifest', manifest];
  const { out, exitCode } = await commandLine(['verify', ...trust, '--statement-only', '--json', file]);
  const { claims, not_covered: open } = JSON.parse(out) as {
    claims: Claim[];
    not_covered: Verdict['notCovered'];
  };
  return {
    exitCode,
    kinds: claims.map(({ kind }) => kind).sort(),
    unproven: open
      .filter(({ why }) => why === 'unproven')
      .map(({ detail }) => detail)
      .join('; '),
  };
}

const status = async (token: string) =>
  (await fetch(`${running.url}/archivist/v2/assets`, { headers: { authorization: `Bearer ${token}` } })).status;

describe('after the theft of a key', { timeout: LONG }, () => {
  it('token: every token of the stolen key is refused, also of a retired one that is revoked; new ones are accepted', async () => {
    const { token } = running.owner;
    const { keyId } = activeKey('token');
    await rotateDeploymentKey(deps(), 'token');
    expect(await status(token)).toBe(200);
    await revokeKey(deps(), keyId);
    await vi.waitFor(async () => expect(await status(token)).toBe(401), PATIENCE);
    const next = await clientOf(running.url, running.owner.clientId, running.ownerSecret);
    expect(await status(next.token)).toBe(200);
    await steal('token');
    await vi.waitFor(async () => expect(await status(next.token)).toBe(401), PATIENCE);
    const last = await clientOf(running.url, running.owner.clientId, running.ownerSecret);
    expect(await status(last.token)).toBe(200);
    const jwks = JSON.stringify((await running.anonymous.get('/.well-known/jwks.json')).json);
    expect([jwks.includes(keyId), jwks.includes(activeKey('token').keyId)]).toEqual([false, true]);
  });

  it.each([
    ['statement_receipt', ['event']],
    ['seal', ['statement']],
  ] as const)(
    '%s: what it signed no longer counts, the rest of the evidence does; new evidence verifies, and so do the old events’ proofs',
    async (role, kinds) => {
      const event = await newEvent();
      const before = await kept(`${role}-before.cose`, event);
      expect(await verify(before)).toMatchObject({ exitCode: 0, kinds: ['event', 'statement'] });
      const stolen = await steal(role);
      const after = await verify(before);
      expect([after.exitCode, after.kinds]).toEqual([3, kinds]);
      expect(after.unproven).toContain(`signed with the ${role} key ${stolen}, which was stolen and revoked`);
      expect(await verify(await statement(`${role}-after.cose`))).toMatchObject({ exitCode: 0 });
      const again = await verify(await kept(`${role}-again.cose`, event));
      expect(again).toEqual({ exitCode: 0, kinds: ['event', 'statement'], unproven: '' });
    },
  );

  it('note: the stolen key signs no checkpoint along, and no verdict changes', async () => {
    const evidence = await statement('note.cose');
    const { json } = await running.anonymous.get('/verifiabledata/tlog');
    const [{ url, vkey }] = json['logs'] as [{ url: string; vkey: string }];
    const checkpoint = async () =>
      new TextDecoder().decode((await running.anonymous.get(`${new URL(url).pathname}/checkpoint`)).bytes);
    await verifyNote(await checkpoint(), [decodeVkey(vkey)]);
    await steal('note');
    await expect(verifyNote(await checkpoint(), [decodeVkey(vkey)])).rejects.toThrow();
    const newest = (await running.anonymous.get(`${new URL(url).pathname}/vkey`)).bytes;
    await verifyNote(await checkpoint(), [decodeVkey(new TextDecoder().decode(newest).trim())]);
    expect(await verify(evidence)).toMatchObject({ exitCode: 0, unproven: '' });
  });

  it('chain: no verdict changes', async () => {
    const evidence = await statement('chain.cose');
    const stolen = await steal('chain');
    expect(activeKey('chain').keyId).not.toBe(stolen);
    expect(await verify(evidence)).toMatchObject({ exitCode: 0, unproven: '' });
  });

  it('of seals and receipts: neither key is published any more, and the manifest says when each was revoked', async () => {
    const revoked = deps().manifests.current.manifest.keys.filter(({ state }) => state === 'revoked');
    expect(revoked.map(({ role }) => role).sort()).toEqual(
      ['chain', 'note', 'seal', 'statement_receipt', 'token', 'token'].sort(),
    );
    for (const { validUntilMs, revokedAt } of revoked) {
      expect(validUntilMs).toBeGreaterThan(0);
      expect(Object.keys(revokedAt!)).toHaveLength(3);
    }
    const published = Buffer.from((await running.anonymous.get('/.well-known/scitt-keys')).bytes).toString('hex');
    for (const { keyId } of revoked) expect(published).not.toContain(Buffer.from(keyId, 'base64url').toString('hex'));
  });
});

describe('after the loss of the private halves of all active keys', { timeout: LONG }, () => {
  const ROLES = ['chain', 'issuer', 'note', 'seal', 'statement_receipt', 'token'] as const;
  const halfOf = (role: Role) => join(running.environment.DATA_DIR, 'keys', `${activeKey(role).keyId}.pem`);
  const startAgain = async () => {
    const service = await startService(parseConfig(running.environment));
    const { close } = running;
    running = { ...running, service, close: () => service.close().then(close) };
  };

  it('the service that still runs rotates them, and starts again; what they signed verifies', async () => {
    const evidence = await statement('halves-before.cose');
    for (const role of ROLES) await rm(halfOf(role));
    for (const role of ROLES) await rotateDeploymentKey(deps(), role);
    await running.service.close();
    await startAgain();
    for (const file of [evidence, await statement('halves-after.cose')])
      expect(await verify(file)).toMatchObject({ exitCode: 0, unproven: '' });
  });

  it('a stopped service does not start and names each; with a copy of the file it does. Evidence verifies meanwhile', async () => {
    const evidence = await statement('stopped.cose');
    const manifest = (await running.anonymous.get('/verifiabledata/keys/manifest')).bytes;
    const root = running.service.rootFingerprint;
    await running.service.close();
    for (const role of ROLES) {
      const half = halfOf(role);
      await rename(half, `${half}.aside`);
      await expect(startService(parseConfig(running.environment))).rejects.toThrow(
        `The private half of the active key ${activeKey(role).keyId} is missing: restore ${half}`,
      );
      expect(await verifyWith(root, manifest, evidence)).toMatchObject({ exitCode: 0, unproven: '' });
      await rename(`${half}.aside`, half);
    }
    await startAgain();
  });
});

describe('after the loss of the root key', { timeout: LONG }, () => {
  it('the service starts, signs and proves as before under the same fingerprint, and no key can be changed', async () => {
    const fingerprint = running.service.rootFingerprint;
    const evidence = await statement('root-before.cose');
    const keysDir = join(running.environment.DATA_DIR, 'keys');
    await rm(join(keysDir, `${toBase64Url(keyThumbprint(deps().manifests.current.manifest.root))}.pem`));
    await running.service.close();
    const service = await startService(parseConfig(running.environment));
    const { close } = running;
    running = { ...running, service, close: () => service.close().then(close) };
    expect(service.rootFingerprint).toBe(fingerprint);
    for (const file of [evidence, await statement('root-after.cose')])
      expect(await verify(file)).toMatchObject({ exitCode: 0, unproven: '' });
    const { number } = deps().manifests.current.manifest;
    for (const change of [() => rotateDeploymentKey(deps(), 'seal'), () => rotateRoot(deps())])
      await expect(change()).rejects.toThrow('The root key is not here');
    expect(deps().manifests.current.manifest.number).toBe(number);
  });
});
