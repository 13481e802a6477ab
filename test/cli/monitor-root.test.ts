import { mkdtemp, readdir, readFile, rm, utimes } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openRootKey } from '../../src/archivist/keys/root-key.js';
import { rotateDeploymentKey } from '../../src/archivist/operator/manage-keys.js';
import { signKeyManifest } from '../../src/core/keys/sign-key-manifest.js';
import { encodeKeyManifests } from '../../src/core/keys/verify-key-manifests.js';
import { startTestService, type TestService, template } from '../api/test-service.js';
import { commandLine } from '../support/command-line.js';

const PATIENCE = { timeout: 60_000, interval: 200 };
const LONG = 120_000;
const MANIFEST = '/verifiabledata/keys/manifest';
let running: TestService;
let between: Server;
let url: string;
let folder: string;
/** What the server between answers instead of the service: a service that was set back, or lies. */
const instead = new Map<string, Uint8Array | undefined>();
/** Paths for which it does so once. */
const shownOnce = new Set<string>();
/** Paths that are not answered, after what is shown instead. */
const failing = new Set<string>();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'monitor-root-'));
  running = await startTestService();
  between = createServer(async (request, response) => {
    const path = request.url!;
    if (instead.has(path)) {
      const body = instead.get(path);
      if (shownOnce.delete(path)) instead.delete(path);
      return void (body ? response.end(body) : response.writeHead(404).end());
    }
    if (failing.has(path)) return void response.writeHead(503).end();
    const answer = await running.anonymous.get(path);
    response.writeHead(answer.status).end(answer.bytes);
  });
  await new Promise<void>((listening) => between.listen(0, '127.0.0.1', listening));
  url = `http://127.0.0.1:${(between.address() as AddressInfo).port}`;
  await record();
}, LONG);
afterAll(async () => {
  await new Promise((closed) => between?.close(closed));
  await running?.close();
  await rm(folder, { recursive: true, force: true });
});

/** One more entry in a tenancy log and in the private statement log, sealed. */
async function record(): Promise<void> {
  const asset = await running.owner.post('/archivist/v2/assets', { attributes: {} });
  const event = await running.owner.post(`/archivist/v2/${asset.json['identity']}/events`, {
    operation: 'Record',
    behaviour: 'RecordEvidence',
    event_attributes: template('vcon://0190a8c0-0000-7000-8000-0000000000d1'),
  });
  await vi.waitFor(async () => {
    const { status } = await running.owner.get(`/archivist/v2/${event.json['identity']}/transparent-statement`);
    expect(status).toBe(200);
  }, PATIENCE);
}

const look = (...args: string[]) => commandLine(['monitor', url, '--once', ...args]);
const monitor = (state = 'state') => look('--root', running.service.rootFingerprint, '--state', join(folder, state));
const rotate = (role: 'note' | 'seal' | 'chain', stolen = false) =>
  rotateDeploymentKey(running.service.parts.keys, role, stolen);
const current = () => running.service.parts.keys.manifests.current;
const published = async () => (await running.anonymous.get(MANIFEST)).bytes;

describe('monitor by the fingerprint of the root key', { timeout: LONG }, () => {
  it('follows every log of the service without any other key', async () => {
    const { out, err, exitCode } = await monitor();
    expect([err, exitCode]).toEqual(['', 0]);
    expect(out).toContain('key manifest: number 1 of');
    for (const { name } of current().manifest.logs) expect(out).toContain(`${name}: `);
    expect(out).toMatch(/tenant\/[0-9a-f-]{36}: 2 leaves/);
  });

  it('goes on over rotated keys, also of stolen ones that signed the state it remembers', async () => {
    await rotate('note');
    expect(await monitor()).toMatchObject({ err: '', exitCode: 0 });
    await rotate('note', true);
    expect(await monitor()).toMatchObject({ err: '', exitCode: 0 });
    await rotate('seal', true);
    await record();
    const { out, err, exitCode } = await monitor();
    expect([err, exitCode]).toEqual(['', 0]);
    expect(out).toContain(`number ${current().manifest.number} of`);
  });

  it('looks again when a key was rotated between its look at the manifest and at a log', async () => {
    const before = await published();
    await rotate('seal');
    await record();
    instead.set(MANIFEST, before);
    shownOnce.add(MANIFEST);
    const { out, err, exitCode } = await monitor('between');
    expect([err, exitCode]).toEqual(['', 0]);
    expect(out).toContain('signed with a key of a newer key manifest: looked at again');
    expect(out).toContain(`number ${current().manifest.number} of`);
    const files = await readdir(join(folder, 'between'), { recursive: true });
    expect(files.filter((file) => file.includes('alarm'))).toEqual([]);
  });

  it('raises no alarm at an unknown key while it cannot read the key manifest again', async () => {
    expect((await monitor('withheld')).exitCode).toBe(0);
    const before = await published();
    await rotate('seal');
    await record();
    instead.set(MANIFEST, before);
    shownOnce.add(MANIFEST);
    failing.add(MANIFEST);
    const { err, exitCode } = await monitor('withheld').finally(() => failing.clear());
    expect([exitCode, err]).toEqual([2, expect.stringMatching(/tenant\/\S+: \S+\/keys\/manifest answers 503/)]);
    expect(err).not.toContain('ALARM');
    const files = await readdir(join(folder, 'withheld'), { recursive: true });
    expect(files.filter((file) => file.includes('alarm'))).toEqual([]);
    expect(await monitor('withheld')).toMatchObject({ err: '', exitCode: 0 });
  });

  it('raises an alarm at a key manifest that is older than one that it saw, or gone, and keeps the proof', async () => {
    const old = await published();
    await rotate('chain');
    expect((await monitor()).exitCode).toBe(0);
    for (const [shown, text] of [
      [old, 'number'],
      [undefined, 'the key manifest is gone: a rollback'],
    ] as const) {
      instead.set(MANIFEST, shown);
      const { err, exitCode } = await monitor();
      expect([exitCode, err]).toEqual([1, expect.stringContaining(`ALARM key manifest: `)]);
      expect(err).toContain('[manifest_older]');
      expect(err).toContain(text);
      // A monitor that has seen nothing cannot know.
      if (shown) expect((await monitor('new')).exitCode).toBe(0);
      instead.clear();
    }
    const [proof] = await readdir(join(folder, 'state/keys/alarm'));
    expect(new Uint8Array(await readFile(join(folder, 'state/keys/alarm', proof!)))).toEqual(old);
    expect((await monitor()).exitCode).toBe(0);
  });

  it('raises an alarm at two manifests of one number, at one that the keys log does not hold, and at another root', async () => {
    const { keys } = running.service.parts.keys;
    const { manifest } = current();
    const root = (await openRootKey(keys, manifest.root))!;
    const forged = { ...manifest, issuedAtMs: manifest.issuedAtMs + 1 };
    const show = async (number: number) =>
      instead.set(MANIFEST, encodeKeyManifests([await signKeyManifest({ ...forged, number }, root)]));
    await show(manifest.number);
    expect((await monitor()).err).toContain(`the root key has signed two key manifests ${manifest.number}`);
    // A monitor that begins now compares the manifest with the keys log.
    const begun = await monitor('begun');
    expect([begun.exitCode, begun.err]).toEqual([1, expect.stringContaining('[leaf_mismatch]')]);
    instead.clear();
    const another = 'CSGJ-XIOO-3ZKK-3FM5-UZAF-OPDV-3RL3-RRYU-AAHN-SCHE-XKRS-Y7JL-EOA4-4GW4';
    const stranger = await look('--root', another, '--state', join(folder, 'stranger'));
    expect([stranger.exitCode, stranger.err]).toEqual([1, expect.stringContaining('[root_not_trusted]')]);
    expect((await monitor()).exitCode).toBe(0);
  });

  it('raises an alarm at a manifest that the keys log does not hold, also if it had read the log before', async () => {
    const { keys } = running.service.parts.keys;
    const root = (await openRootKey(keys, current().manifest.root))!;
    expect((await monitor('late')).exitCode).toBe(0);
    const { manifest } = current();
    await rm(join(folder, 'late/keys'), { recursive: true });
    const forged = { ...manifest, issuedAtMs: manifest.issuedAtMs + 1 };
    instead.set(MANIFEST, encodeKeyManifests([await signKeyManifest(forged, root)]));
    const held = await monitor('late');
    expect([held.exitCode, held.err]).toEqual([1, expect.stringContaining('[leaf_mismatch]')]);
    // One that the log does not reach is awaited for ten minutes.
    const next = { ...manifest, number: manifest.number + 1, previous: current().hash };
    instead.set(MANIFEST, encodeKeyManifests([await signKeyManifest(next, root)]));
    expect((await monitor('ahead')).exitCode).toBe(0);
    const before = new Date(Date.now() - 660_000);
    const [log] = await readdir(join(folder, 'ahead/log'))
      .then((logs) =>
        Promise.all(logs.map(async (name) => [name, await readdir(join(folder, 'ahead/log', name))] as const)),
      )
      .then((all) => all.filter(([, files]) => files.includes('awaited-entry')));
    await utimes(join(folder, 'ahead/log', log![0], 'awaited-entry'), before, before);
    const ahead = await monitor('ahead');
    expect([ahead.exitCode, ahead.err]).toEqual([1, expect.stringContaining('does not hold entry')]);
    instead.clear();
  });

  it('cannot begin with a service that shows no manifest, and takes no other keys beside the root', async () => {
    instead.set(MANIFEST, undefined);
    expect((await monitor('none')).exitCode).toBe(2);
    instead.clear();
    const mixed = await look('--root', running.service.rootFingerprint, '--vkey', 'x', '--state', join(folder, 'x'));
    expect([mixed.exitCode, mixed.err]).toEqual([2, expect.stringContaining('without --log-keys and --vkey')]);
  });
});
