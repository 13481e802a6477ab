import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { rotateDeploymentKey } from '../../src/archivist/operator/manage-keys.js';
import { template } from '../api/test-service.js';
import type { Finished } from './finished.js';
import { type GatheredEvidence, gatherEvidence, PINNED_KEY, PINNED_KID } from './gather-evidence.js';
import { buildGoChecks, type GoChecks, hasGo } from './go.js';
import { installPackages, type PythonEnvironment, python } from './python.js';

const LINK = fileURLToPath(new URL('payload_hash_link.py', import.meta.url));
const VERIFIER = fileURLToPath(new URL('verify_evidence.py', import.meta.url));
/** pycose 1.1.0 reads what cbor2 5 decodes; the conserver pins the same two. */
const PACKAGES = ['pycose==1.1.0', 'cbor2==5.8.0'];

/** The lines about checks that failed, and the one that ends the report. */
function reported({ out, err, code }: Finished) {
  const lines = out
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { check: string; error: string; checks?: number });
  return { code, err, failed: lines.filter(({ checks }) => checks === undefined), end: lines.at(-1) };
}

describe.skipIf(!python && !hasGo)('what a running service hands out', () => {
  let evidence: GatheredEvidence;
  let pythonPackages: PythonEnvironment | undefined;
  let go: GoChecks | undefined;
  beforeAll(async () => {
    if (python) pythonPackages = await installPackages(...PACKAGES);
    if (hasGo) go = await buildGoChecks();
    evidence = await gatherEvidence();
  });
  afterAll(async () => {
    await evidence?.close();
    await pythonPackages?.remove();
    await go?.remove();
  });

  it.skipIf(!python)(
    'is true for pycose and Python written from the RFCs, and nothing is with a bit turned',
    async () => {
      const report = reported(await pythonPackages!.run(VERIFIER, evidence.folder));
      expect(report).toEqual({ code: 0, err: '', failed: [], end: { checks: 80, failures: 0 } });
    },
  );

  it.skipIf(!hasGo)(
    'is true for go-cose, and its statement logs for a stock tile client that follows them',
    async () => {
      // The client goes from the checkpoint that was kept to a newer one, of the keys log too.
      const { running } = evidence;
      const before = await keysLogSize(evidence);
      await rotateDeploymentKey(running.service.parts.keys, 'chain');
      const asset = await running.owner.post('/archivist/v2/assets', { attributes: {}, public: true });
      for (const identity of [asset.json['identity'], await privateAsset(evidence)]) {
        const event_attributes = template('vcon://0190a8c0-0000-7000-8000-00000000c0de');
        const body = { operation: 'Record', behaviour: 'RecordEvidence', event_attributes };
        const { json } = await running.owner.post(`/archivist/v2/${identity}/events`, body);
        await evidence.confirmed(`/archivist/v2/${json['identity']}/transparent-statement`);
      }
      await vi.waitFor(async () => expect(await keysLogSize(evidence)).not.toBe(before), 30_000);
      const report = reported(await go!.run(evidence.folder));
      expect(report).toEqual({ code: 0, err: '', failed: [], end: { checks: 81, failures: 0 } });
    },
  );

  it.skipIf(!python)('is a receipt at once for a conserver’s statement that pycose made', async () => {
    const key = join(evidence.folder, PINNED_KEY);
    const base = `${evidence.running.url}/payload-hash`;
    const { code, out, err } = await pythonPackages!.run(LINK, base, key, PINNED_KID, '9');
    expect([code, out, err]).toEqual([0, '9 registered\n', '']);
  });

  it.skipIf(!python)('is refused by the same program once an event is altered, and nothing else then is', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'archivist-altered-'));
    await cp(evidence.folder, folder, { recursive: true });
    const event = join(folder, '3.event.json');
    const text = await readFile(event, 'utf8');
    await writeFile(event, text.replace('"operation":"Record"', '"operation":"Recall"'));
    const { code, failed } = reported(await pythonPackages!.run(VERIFIER, folder));
    await rm(folder, { recursive: true });
    expect(code).toBe(1);
    expect(failed.map(({ check }) => check.split(': ')[1])).toEqual([
      'receipt, map form',
      'receipt, draft form',
      'transparent statement',
      'in its log',
    ]);
    expect(new Set(failed.map(({ check }) => check.split(': ')[0])).size).toBe(1);
  });
});

async function privateAsset({ running }: GatheredEvidence): Promise<unknown> {
  return (await running.owner.post('/archivist/v2/assets', { attributes: {} })).json['identity'];
}

/** Entries under the checkpoint that the keys log serves now. */
async function keysLogSize({ running }: GatheredEvidence): Promise<string | undefined> {
  const { json } = await running.anonymous.get('/verifiabledata/tlog');
  const log = (json['logs'] as { kind: string; url: string }[]).find(({ kind }) => kind === 'keys')!;
  const { bytes } = await running.anonymous.get(`${new URL(log.url).pathname}/checkpoint`);
  return new TextDecoder().decode(bytes).split('\n')[1];
}
