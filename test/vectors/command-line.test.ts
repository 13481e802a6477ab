import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { fromHex, toBase64Url, toHex } from '../../src/core/bytes.js';
import type { Signer } from '../../src/core/cose/signature.js';
import { buildMassif } from '../../src/core/massif/build-massif.js';
import { firstNode, leavesPerMassif } from '../../src/core/massif/massif-layout.js';
import { peakStackIndices } from '../../src/core/massif/peak-stack.js';
import { readMassif } from '../../src/core/massif/read-massif.js';
import { leafCount } from '../../src/core/mmr/leaf-count.js';
import { peakReceipt } from '../../src/core/receipt/mmr-receipt.js';
import { createSeal, readSeal, SEAL_VERSION } from '../../src/core/receipt/seal.js';
import { vconHashes } from '../../src/core/vcon/vcon-hash.js';
import { peaksAt } from '../../src/core/verify/verify-log.js';
import { readFixture, type TestKeys } from '../core/cose/read-fixture.js';
import { softwareSigner } from '../core/cose/software-signer.js';
import { haveSharedVectors, sharedVectors } from '../core/mmr/shared-vectors.js';
import { commandLine } from '../support/command-line.js';

interface Jag {
  readonly tenant: string;
  readonly files: { replica_path: string; hex: string }[];
  readonly events_json: { events: { identity: string; operation: string; merklelog_entry: object }[] };
}
interface Seals {
  readonly seals_DERIVED: {
    vectors: { curve: string; style: string; size: number; x: string; y: string; sth_hex: string }[];
  };
}
interface Envelopes {
  readonly [name: string]: { hex: string };
}

const KEYS = readFixture<TestKeys>('keys');
const [sealer, stranger] = [softwareSigner(KEYS.sealer), softwareSigner(KEYS.stranger)];
const folder = mkdtempSync(join(tmpdir(), 'archivist-vectors-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(path: string, content: string | Uint8Array): string {
  const place = join(folder, path);
  mkdirSync(dirname(place), { recursive: true });
  writeFileSync(place, content);
  return place;
}

const keyFile = (name: string, ...keys: object[]) => file(name, JSON.stringify({ keys }));
const ourKeys = keyFile('log-keys.json', sealer.publicKey);

const command = (...args: string[]) => commandLine(args);
const verify = (...args: string[]) => command('verify', '--log-keys', ourKeys, ...args);

/** A seal over what a massif file holds: the vectors' logs came without one. */
async function sealOf(bytes: Uint8Array, tenant: string, signer: Signer = sealer): Promise<Uint8Array> {
  const massif = readMassif(bytes);
  const name = { issuer: 'https://log.example', subject: tenant };
  const peaks = peaksAt(massif, massif.size);
  const receipts = await Promise.all(peaks.map((peak) => peakReceipt(peak, signer, name)));
  const idtimestamp = massif.entries.at(-1)!.idtimestamp;
  const state = { size: massif.size, sealedAtMs: 1737045850000, idtimestamp, epoch: 1, version: SEAL_VERSION };
  return createSeal(state, peaks, signer, name, receipts);
}

/** The massif of eight leaves in which the known tree of this size ends, its last leaf dated as the seal says. */
function knownMassif(nodes: readonly Uint8Array[], size: number, lastId: bigint): Uint8Array {
  const height = 4;
  const leaves = Number(leafCount(BigInt(size)));
  const massif = Math.floor((leaves - 1) / leavesPerMassif(height));
  const count = leaves - massif * leavesPerMassif(height);
  const [key, extraBytes] = [new Uint8Array(32), new Uint8Array(24)];
  return buildMassif({
    height,
    massif,
    entries: Array.from({ length: count }, (_, at) => ({
      key,
      extraBytes,
      idtimestamp: lastId - BigInt(count - 1 - at),
    })),
    peakStack: peakStackIndices(height, massif).map((index) => nodes[Number(index)]!),
    nodes: nodes.slice(Number(firstNode(height, massif)), size),
  });
}

async function jagReplica(place: string, signer?: Signer): Promise<{ jag: Jag; place: string }> {
  const jag = sharedVectors<Jag>('cli-jag-log-h3');
  for (const { replica_path, hex } of jag.files) {
    file(join(place, replica_path), fromHex(hex));
    const seal = join(place, replica_path.replace('/massifs/', '/massifseals/').replace('.log', '.sth'));
    file(seal, await sealOf(fromHex(hex), jag.tenant, signer));
  }
  return { jag, place: join(folder, place) };
}

describe.skipIf(!haveSharedVectors())('the command line on the shared vectors', () => {
  it('cli-jag-log-h3: finds each of the eleven events in the replica, and refuses each when it is altered', async () => {
    const { jag, place } = await jagReplica('jag');
    const { events } = jag.events_json;
    const { out, exitCode } = await verify(file('jag.json', JSON.stringify({ events })), place);
    expect([exitCode, out.match(/an event that a log holds/g)?.length]).toEqual([0, 11]);
    for (const event of events) {
      const altered = file('altered.json', JSON.stringify({ ...event, operation: `${event.operation}!` }));
      const refused = await verify(altered, place);
      expect([refused.exitCode, refused.out.includes('[leaf_mismatch]')]).toEqual([1, true]);
    }
  });

  it('massif-blob-h3: finds the asset event and the asset-free event', async () => {
    const { variant_epoch1 } = sharedVectors<{ variant_epoch1: { blob_hex: string } }>('massif-blob-h3');
    const { events: asset } = sharedVectors<{ events: { name: string; event: { tenant_identity: string } }[] }>(
      'v3-event-hash',
    );
    const { events: free } = sharedVectors<{ events: { name: string; event: object }[] }>('eventsv1');
    const assetEvent = asset.find(({ name }) => name === 'logVersion0Event')!.event;
    const freeEvent = free.find(({ name }) => name === 'logVersion1Event')!.event;
    const bytes = fromHex(variant_epoch1.blob_hex);
    const massif = file('blob.log', bytes);
    const seal = file('blob.sth', await sealOf(bytes, assetEvent.tenant_identity));
    for (const event of [assetEvent, freeEvent]) {
      const { out, exitCode } = await verify(file('event.json', JSON.stringify(event)), massif, seal);
      expect([exitCode, out]).toEqual([0, expect.stringContaining('an event that a log holds')]);
    }
  });

  it('seal-checkpoint, mmr-kat39: each seal is over the known tree, under its own key alone', async () => {
    const { seals_DERIVED } = sharedVectors<Seals>('seal-checkpoint');
    const nodes = sharedVectors<{ nodes: string[] }>('mmr-kat39').nodes.map(fromHex);
    for (const { curve, style, size, x, y, sth_hex } of seals_DERIVED.vectors) {
      const bytes = fromHex(sth_hex);
      const massif = file('kat39.log', knownMassif(nodes, size, readSeal(bytes).state.idtimestamp));
      const [xText, yText] = [x, y].map((hex) => toBase64Url(fromHex(hex)));
      const keys = keyFile('vector-keys.json', { kty: 'EC', crv: curve, x: xText, y: yText });
      const seal = file('kat39.sth', bytes);
      const { out, exitCode } = await command('verify', '--log-keys', keys, massif, seal);
      expect([curve, style, size, exitCode, out]).toEqual([
        curve,
        style,
        size,
        0,
        expect.stringContaining(`seal over ${size} nodes`),
      ]);
      expect((await verify(massif, seal)).out).toContain('[log_key_not_trusted]');
    }
  });

  it('hash-envelope: a statement with either set of labels is signed by its issuer, and by nobody else', async () => {
    const envelopes = sharedVectors<Envelopes>('hash-envelope');
    const { key } = readFixture<{ key: { x: string; y: string } }>('hash-envelopes');
    const [x, y] = [key.x, key.y].map((hex) => toBase64Url(fromHex(hex)));
    const issuerKeys = keyFile('issuer.json', { kty: 'EC', crv: 'P-256', x, y });
    for (const name of ['DERIVED_final_labels', 'DERIVED_seed_private_labels']) {
      const statement = file('statement.cose', fromHex(envelopes[name]!.hex));
      const { out, exitCode } = await command('verify', '--issuer-keys', issuerKeys, statement);
      // Nothing shows that it was registered.
      expect([exitCode, out]).toEqual([3, expect.stringContaining('signature of https://issuer.example')]);
      expect((await command('verify', '--issuer-keys', ourKeys, statement)).exitCode).toBe(1);
    }
    const undefinedHeader = file('undefined.cose', fromHex(envelopes['transmute_example']!.hex));
    expect((await command('verify', '--issuer-keys', issuerKeys, undefinedHeader)).exitCode).not.toBe(0);
  });

  it('api-post-input, api-post-stored: what was posted to a conserver is recognised as what it stored', () => {
    const read = (name: string) => readFileSync(new URL(`../../../shared/vectors/${name}.json`, import.meta.url));
    const [posted, stored] = ['api-post-input', 'api-post-stored'].map((name) => vconHashes(read(name)));
    const hashOf = (hashes: typeof posted, form: string) => hashes!.conserver.find((made) => made.form === form)!.hash;
    expect(hashOf(posted, 'submitted')).toBe(hashOf(stored, 'upstream'));
    expect(hashOf(posted, 'submitted')).toMatch(/^[0-9a-f]{64}$/);
    expect(hashOf(posted, 'upstream')).not.toBe(hashOf(stored, 'upstream'));
  });
});

/** What the stock tool says in each case, and what ours does instead: the same verdict, in our words. */
describe.skipIf(!haveSharedVectors())('cli-expected', () => {
  interface Case {
    readonly command: string;
    readonly exit?: number;
    readonly stdout?: string;
  }
  const cases = haveSharedVectors() ? sharedVectors<{ cases: Case[] }>('cli-expected').cases : [];
  const exitOf = (start: string) => cases.find(({ command }) => command.startsWith(start))!.exit;

  it('an event of another log is in no replica of this one', async () => {
    const { place } = await jagReplica('foreign-event');
    const { events } = sharedVectors<{ events: { event: object }[] }>('v3-event-hash');
    const { exitCode, out } = await verify(file('foreign.json', JSON.stringify(events[0]!.event)), place);
    // Ours tells what is refused (1) from what no given log proves (3).
    expect([exitOf('verify-included with event of another log'), exitCode]).toEqual([1, 3]);
    expect(out).toContain('no given file proves that a log holds it');
  });

  it.each([
    ['verify-included --data-local EMPTY_DIR', () => file('nothing/massifs/readme.txt', '')],
    ['verify-included --data-local INVALID_FILE', () => file('zero/massifs/0000000000000000.log', '')],
  ])('%s cannot be checked', async (start, make) => {
    const { jag } = await jagReplica('unused');
    const event = file('one.json', JSON.stringify(jag.events_json.events[0]));
    const { exitCode, err, out } = await verify(event, dirname(dirname(make())));
    // Ours tells what cannot be read (2) from what is refused (1).
    expect([exitOf(start), exitCode > 0, err + out]).toEqual([1, true, expect.stringMatching(/massif|0{16}/)]);
  });

  it('an empty input is no evidence', async () => {
    expect(exitOf('verify-included with empty stdin')).toBe(1);
    expect((await verify(file('empty.json', ''))).exitCode).toBeGreaterThan(0);
  });

  it('a massif that is shorter than its seal is refused', async () => {
    const { jag, place } = await jagReplica('short');
    const [{ replica_path: path, hex }] = jag.files as [Jag['files'][number]];
    // Nodes 4 to 6 came with the fourth leaf.
    const header = fromHex(hex).slice(0, -96);
    file(join('short', path), header);
    const { exitCode, out } = await verify(place);
    expect([exitCode, out]).toEqual([
      exitOf('replicate-logs over a local massif'),
      expect.stringMatching(/\[(insufficient_data|massif_corrupt)\]/),
    ]);
  });

  it('a massif of another log, with and without that log’s seal, is refused', async () => {
    const { logs } = sharedVectors<{ logs: { height_3: { hex: string }[] } }>('massif-files-kat39');
    const foreign = fromHex(logs.height_3[0]!.hex);
    for (const withSeal of [false, true]) {
      const { jag, place } = await jagReplica(`foreign-${withSeal}`);
      const [{ replica_path: path }] = jag.files as [Jag['files'][number]];
      file(join(`foreign-${withSeal}`, path), foreign);
      const seal = join(`foreign-${withSeal}`, path.replace('/massifs/', '/massifseals/').replace('.log', '.sth'));
      if (withSeal) file(seal, await sealOf(foreign, jag.tenant));
      const { exitCode, out } = await verify(place);
      const expected = withSeal ? 'replicate-logs over foreign massif and seal' : 'replicate-logs over foreign massif';
      const code = withSeal ? /\[(consistency_invalid|massif_corrupt)\]/ : /\[seal_signature_invalid\]/;
      expect([exitCode, out]).toEqual([exitOf(expected), expect.stringMatching(code)]);
    }
  });

  it('seals by a key that the caller did not give are refused', async () => {
    const { place } = await jagReplica('stranger', stranger);
    expect((await verify(place)).out).toContain('[log_key_not_trusted]');
  });

  it('asked for its version, it prints a number', async () => {
    const { out } = await command('--version');
    expect(`v${out.trim()}`).toMatch(/^v[0-9]+\.[0-9]+\.[0-9]+/);
  });

  it('a published node is the leaf that the published path starts from', () => {
    const { path_cross_check } = sharedVectors<{ path_cross_check: { b: { index: number; leaf: string } } }>(
      'v3-event-hash',
    );
    const { index, leaf } = path_cross_check.b;
    expect(toHex(fromHex(cases.find(({ command }) => command === `node -i ${index} (public tenant)`)!.stdout!))).toBe(
      leaf,
    );
  });
});
