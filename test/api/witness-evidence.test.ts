import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unzipSync, zipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { bundleIndex, encodeBundleIndex, INDEX_PATH, readBundleIndex } from '../../src/core/bundle/bundle-index.js';
import { concatBytes, utf8 } from '../../src/core/bytes.js';
import { encodeVkey } from '../../src/core/tlog/signed-note.js';
import { commandLine } from '../support/command-line.js';
import { startTestService, type TestService, template } from './test-service.js';
import { startTestWitness, type TestWitness } from './test-witness.js';

const PATIENCE = { timeout: 60_000, interval: 250 };
const folder = mkdtempSync(join(tmpdir(), 'witnessed-'));
const PROOF = 'witness/seal.tlog-proof';
let witnesses: TestWitness[];
let stranger: TestWitness;
let running: TestService;
let keys: string[];
let bundles: Uint8Array[];
let publicBundle: Uint8Array;

beforeAll(async () => {
  witnesses = await Promise.all(['w1', 'w2', 'w3'].map((name) => startTestWitness(`${name}.example`)));
  stranger = await startTestWitness('w4.example');
  witnesses[2]!.misbehaviour = 'refuses';
  running = await startTestService({
    WITNESSES: witnesses.map(({ address }) => address).join(', '),
    WITNESS_QUORUM: '2',
    WITNESS_SECONDS: '1',
  });
  const { logs } = (await running.anonymous.get('/verifiabledata/tlog')).json as {
    logs: { kind: string; vkey: string }[];
  };
  for (const each of witnesses) each.knownLogs.push(logs.find(({ kind }) => kind === 'public')!.vkey);
  const paths = { logs: join(folder, 'keys.cbor'), issuer: join(folder, 'did.json') };
  writeFileSync(paths.logs, (await running.anonymous.get('/.well-known/scitt-keys')).bytes);
  writeFileSync(paths.issuer, (await running.anonymous.get('/archivist/v1/didweb/did.json')).bytes);
  keys = ['--log-keys', paths.logs, '--issuer-keys', paths.issuer, '--statement-only'];
  const first = await unequivocal(false);
  bundles = [await bundleOf(first), await bundleOf(await unequivocal(false))];
  publicBundle = await bundleOf(`public${await unequivocal(true)}`);
}, 240_000);
afterAll(async () => {
  await running?.close();
  await Promise.all([...(witnesses ?? []), stranger].map((each) => each?.close()));
  rmSync(folder, { recursive: true });
});

async function unequivocal(isPublic: boolean): Promise<string> {
  const asset = await running.owner.post('/archivist/v2/assets', { attributes: {}, public: isPublic });
  const made = await running.owner.post(`/archivist/v2/${asset.json['identity']}/events`, {
    operation: 'Record',
    behaviour: 'RecordEvidence',
    event_attributes: template('vcon://0190a8c0-0000-7000-8000-0000000000d1'),
  });
  const identity = String(made.json['identity']);
  await vi.waitFor(async () => {
    const shown = isPublic ? `public${identity}` : identity;
    const { json } = await running.owner.get(`/archivist/v2/${shown}`);
    expect(json['confirmation_status']).toBe('UNEQUIVOCAL');
  }, PATIENCE);
  return identity;
}

async function bundleOf(identity: string): Promise<Uint8Array> {
  const answer = await running.owner.get(`/archivist/v2/${identity}/evidence`);
  expect(answer.status).toBe(200);
  return answer.bytes;
}

let files = 0;
async function verify(bundle: Uint8Array, by: readonly TestWitness[], ...more: string[]) {
  files += 1;
  const path = join(folder, `${files}.zip`);
  writeFileSync(path, bundle);
  const named = by.flatMap(({ key }) => ['--witness', encodeVkey(key)]);
  const args = keys.filter((each) => each !== '--statement-only');
  return commandLine(['verify', ...args, ...named, ...more, path]);
}

/** The bundle with some files changed, or taken out, under an index that lists them as they are now. */
function changed(bundle: Uint8Array, change: (files: Record<string, Uint8Array>) => void): Uint8Array {
  const opened: Record<string, Uint8Array> = unzipSync(bundle);
  const { operations } = readBundleIndex(opened[INDEX_PATH]!);
  delete opened[INDEX_PATH];
  // The page has the files as they were, and would refuse every change.
  delete opened['index.html'];
  change(opened);
  return zipSync({ ...opened, [INDEX_PATH]: encodeBundleIndex(bundleIndex(opened, operations)) });
}
const textOf = (files: Record<string, Uint8Array>, name: string) => new TextDecoder().decode(files[name]);
const QUORUM = ['--witness-quorum', '2'];

describe('the bundle of an event that witnesses have vouched for', () => {
  it('says who of the witnesses that the verifier knows', async () => {
    for (const bundle of [...bundles, publicBundle]) {
      const checked = await verify(bundle, witnesses, ...QUORUM);
      expect(checked.out).toMatch(/^VERIFIED\b/);
      expect(checked.out).toMatch(/witnesses w1\.example, w2\.example: entry \d+ of \d+ in "/);
      expect(checked.exitCode).toBe(0);
    }
  });

  it('is incomplete without their keys, and says where keys come from', async () => {
    const { out, exitCode } = await verify(bundles[0]!, []);
    expect([exitCode, out]).toEqual([3, expect.stringMatching(/^INCOMPLETE/)]);
    expect(out).toMatch(/witness\/seal\.tlog-proof \(NOT PROVEN: .*--witness.*publish/);
  });

  it('has nothing false in it without their keys either', async () => {
    const garbage = changed(bundles[0]!, (opened) => {
      opened['witness/event-in-seal.json'] = unzipSync(bundles[1]!)['witness/event-in-seal.json']!;
    });
    expect((await verify(garbage, [])).exitCode).toBe(1);
  });

  it('is refused where all of them are asked for and one did not cosign', async () => {
    const { out, exitCode } = await verify(bundles[0]!, witnesses);
    expect([exitCode, out]).toEqual([1, expect.stringContaining('[witness_quorum_missing]')]);
  });

  it('counts a witness once, however often it is given or has signed', async () => {
    const [one] = witnesses as [TestWitness];
    const twice = await verify(bundles[0]!, [one, one], ...QUORUM);
    expect([twice.exitCode, twice.err]).toEqual([2, expect.stringContaining('--witness-quorum')]);
    const renamed = { ...one, key: { ...one.key, name: 'another.example' } };
    expect((await verify(bundles[0]!, [one, renamed], ...QUORUM)).exitCode).toBe(2);
    const repeated = changed(bundles[0]!, (opened) => {
      const proof = textOf(opened, PROOF);
      const line = proof.split('\n').find((each) => each.startsWith('— w1.example'))!;
      const without = proof.split('\n').filter((each) => !each.startsWith('— w2.example'));
      opened[PROOF] = utf8(`${without.join('\n')}${line}\n`);
    });
    const { out } = await verify(repeated, witnesses, ...QUORUM);
    expect(out).toContain('cosigned by 1 of the given witnesses, not by 2 [witness_quorum_missing]');
  });

  it('is not witnessed by somebody else', async () => {
    const { out, exitCode } = await verify(bundles[0]!, [stranger]);
    expect([exitCode, out]).toEqual([1, expect.stringContaining('[witness_quorum_missing]')]);
  });

  it('is checked against the log that is named, if one is', async () => {
    const origin = textOf(unzipSync(bundles[0]!), PROOF).split('\n\n')[1]!.split('\n')[0]!;
    expect((await verify(bundles[0]!, witnesses, ...QUORUM, '--witnessed-log', origin)).exitCode).toBe(0);
    const other = await verify(bundles[0]!, witnesses, ...QUORUM, '--witnessed-log', 'log/another');
    expect(other.out).toContain('[log_mismatch]');
  });

  it.each<[string, string, (opened: Record<string, Uint8Array>, other: Record<string, Uint8Array>) => void]>([
    [
      'a checkpoint that does not cover the seal',
      'inclusion_path_invalid',
      (opened, other) => {
        opened[PROOF] = other[PROOF]!;
      },
    ],
    [
      'another seal',
      'inclusion_path_invalid',
      (opened, other) => {
        opened['witness/seal.sth'] = other['witness/seal.sth']!;
        opened['witness/event-in-seal.json'] = other['witness/event-in-seal.json']!;
      },
    ],
    [
      'another place in the public log',
      'inclusion_path_invalid',
      (opened) => {
        opened[PROOF] = utf8(textOf(opened, PROOF).replace(/^index \d+$/m, 'index 7'));
      },
    ],
    [
      'another root under the cosignatures',
      'inclusion_path_invalid',
      (opened) => {
        const root = /(?<=\n\n\S+\n\d+\n)\S/;
        opened[PROOF] = utf8(textOf(opened, PROOF).replace(root, (first) => (first === '/' ? '+' : '/')));
      },
    ],
    [
      'a larger size under the cosignatures',
      'inclusion_path_invalid',
      (opened) => {
        opened[PROOF] = utf8(textOf(opened, PROOF).replace(/\n\n(\S+)\n(\d+)\n/, '\n\n$1\n$200000\n'));
      },
    ],
    [
      'a cosignature turned',
      'checkpoint_signature_invalid',
      (opened) => {
        const turn = (line: string) =>
          line.replace(/.{3}=*$/, (end) => (end.startsWith('A') ? `B${end.slice(1)}` : `A${end.slice(1)}`));
        opened[PROOF] = utf8(textOf(opened, PROOF).replace(/^— w1\.example .*$/m, turn));
      },
    ],
    [
      'another origin under the cosignatures',
      'checkpoint_signature_invalid',
      (opened) => {
        opened[PROOF] = utf8(textOf(opened, PROOF).replace('\n\nlog/', '\n\nlog/x'));
      },
    ],
    [
      'a path that does not lead to the seal',
      'inclusion_path_invalid',
      (opened) => {
        opened['witness/event-in-seal.json'] = utf8(
          textOf(opened, 'witness/event-in-seal.json').replace(/"[0-9a-f]{64}"/, `"${'00'.repeat(32)}"`),
        );
      },
    ],
    [
      'no path at all',
      'malformed',
      (opened) => {
        opened['witness/event-in-seal.json'] = utf8('{"path": 1, "peaks": null}');
      },
    ],
    [
      'a proof that is none',
      'malformed',
      (opened) => {
        opened[PROOF] = utf8('c2sp.org/tlog-proof@v2\nindex 0\n\n');
      },
    ],
    [
      'a byte order mark before the proof',
      'malformed',
      (opened) => {
        opened[PROOF] = concatBytes(utf8('\ufeff'), opened[PROOF]!);
      },
    ],
    [
      'a seal that is none',
      'malformed',
      (opened) => {
        opened['witness/seal.sth'] = utf8('seal');
      },
    ],
  ])('is refused with %s', async (_, code, change) => {
    const other = unzipSync(bundles[1]!);
    const { out, exitCode } = await verify(
      changed(bundles[0]!, (opened) => change(opened, other)),
      witnesses,
      ...QUORUM,
    );
    expect([exitCode, out]).toEqual([
      1,
      expect.stringMatching(new RegExp(`witness/seal\\.tlog-proof: .*\\[(${code})\\]`)),
    ]);
  });

  it('is incomplete for a verifier who asks for witnesses where it has nothing of them', async () => {
    const without = (gone: RegExp) =>
      changed(bundles[0]!, (opened) => {
        for (const path of Object.keys(opened)) if (gone.test(path)) delete opened[path];
      });
    for (const gone of [/^witness\//, /^witness\/seal\.sth$/]) {
      const { out, exitCode } = await verify(without(gone), witnesses, ...QUORUM);
      expect([exitCode, out]).toEqual([3, expect.stringMatching(/^INCOMPLETE/)]);
    }
    const lost = unzipSync(bundles[0]!);
    delete lost['witness/seal.sth'];
    expect((await verify(zipSync(lost), witnesses, ...QUORUM)).exitCode).toBe(1);
  });
});
