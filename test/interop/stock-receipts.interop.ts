import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toHex } from '../../src/core/bytes.js';
import { VerificationError } from '../../src/core/errors.js';
import { readMmrReceipt } from '../../src/core/receipt/mmr-receipt.js';
import { type GenuineEvidence, genuineEvidence } from '../verify-matrix/evidence-sets.js';
import { type Judges, judgesOf } from '../verify-matrix/judge-row.js';
import { type GivenFiles, matrixRows, type Row } from '../verify-matrix/matrix-rows.js';
import { installPackages, type PythonEnvironment, pythonMinor } from './python.js';

const SCRIPT = fileURLToPath(new URL('stock_receipts.py', import.meta.url));
/** Its pycose changes what cbor2 decodes, which cbor2 6 forbids. */
const PACKAGES = ['datatrails-scitt-samples==0.1.1a1', 'cbor2==5.8.0'];
const OLDEST_PYTHON = 11;

interface StockVerifier {
  accepts(event: Uint8Array, receipt: Uint8Array): Promise<boolean>;
  close(): Promise<void>;
}

function startStockVerifier(environment: PythonEnvironment): StockVerifier {
  const folder = mkdtempSync(join(tmpdir(), 'stock-receipts-'));
  const child = spawn(environment.python, [SCRIPT], { stdio: ['pipe', 'pipe', 'inherit'] });
  const waiting: ((accepted: boolean) => void)[] = [];
  createInterface({ input: child.stdout }).on('line', (line) =>
    waiting.shift()?.((JSON.parse(line) as { accepted: boolean }).accepted),
  );
  const file = (name: string, bytes: Uint8Array) => {
    const path = join(folder, name);
    writeFileSync(path, bytes);
    return path;
  };
  return {
    accepts: (event, receipt) =>
      new Promise((resolve) => {
        waiting.push(resolve);
        const question = { event: file('event.json', event), receipt: file('receipt.cose', receipt) };
        child.stdin.write(`${JSON.stringify(question)}\n`);
      }),
    close: () =>
      new Promise((resolve) => {
        child.on('close', () => {
          rmSync(folder, { recursive: true });
          resolve();
        });
        child.stdin.end();
      }),
  };
}

/** An event of an asset with its receipt in the map form: what the samples read. */
function ofStock(row: Row): GivenFiles | undefined {
  if (row.set.name.includes('asset-free')) return undefined;
  if (row.case === 'event and receipt with a map') return row.files;
  const isEvent = row.case === 'event and receipt' && row.changed?.file === 'event.json';
  return isEvent ? { ...row.files, 'receipt.cose': row.set.mapReceipt } : undefined;
}

/**
 * The samples read less than we do: one of two members of the same name, and a receipt's headers encoded again; the place
 * from the receipt only; and `public` at the beginning of an identity is in no leaf.
 */
function isUnread({ changed, what, set }: Row): boolean {
  const member = changed?.member.join('.');
  const isForm = member === 'identity' && /public (asset|form)/.test(what) && /public (asset|form)/.test(set.name);
  return /(doubled|twice)$/.test(what) || isForm || member?.startsWith('merklelog_entry.commit.index') === true;
}

/**
 * True if only the index differs from the event's own receipt, and the path is empty. A leaf is a peak itself while it is
 * the last of an odd number; nothing is hashed on the way from such a leaf, so the samples do not use its index.
 */
function isPlaceOfPeak({ set, files }: Row): boolean {
  const [given, own] = [signedLeaf(files['receipt.cose']!), signedLeaf(set.mapReceipt)];
  return given !== undefined && given === own;
}

/** What is signed in the receipt of a leaf that is a peak; undefined for all others. */
function signedLeaf(receipt: Uint8Array): string | undefined {
  try {
    const { path, sign1 } = readMmrReceipt(receipt);
    if (path.length > 0 || sign1.payload !== null) return undefined;
    return [sign1.protectedBytes, sign1.signature].map(toHex).join();
  } catch (error) {
    if (error instanceof VerificationError) return undefined;
    throw error;
  }
}

describe.skipIf(pythonMinor < OLDEST_PYTHON)('the stock SCITT samples', () => {
  let environment: PythonEnvironment;
  let stock: StockVerifier;
  let genuine: GenuineEvidence;
  let judges: Judges;
  beforeAll(async () => {
    environment = await installPackages(...PACKAGES);
    stock = startStockVerifier(environment);
    genuine = await genuineEvidence();
    judges = judgesOf(genuine, undefined);
  });
  afterAll(async () => {
    judges?.remove();
    await stock?.close();
    await environment?.remove();
  });

  it('accept every receipt as the service made it', async () => {
    for (const { name, event, mapReceipt } of genuine.sets)
      if (!name.includes('asset-free')) expect([name, await stock.accepts(event, mapReceipt)]).toEqual([name, true]);
  });

  it('accept no receipt with an event that we refuse', async () => {
    const { sets } = genuine;
    const accepted: string[] = [];
    let asked = 0;
    const [some, others] = [sets.slice(0, 5), sets.slice(0, 8)];
    for (const row of matrixRows({ sets: some, donors: others, partners: others, bundles: 'none' })) {
      const files = ofStock(row);
      if (!files || isUnread(row) || isPlaceOfPeak({ ...row, files })) continue;
      if ((await judges.judge(files)).ours.outcome === 'verified') continue;
      asked += 1;
      if (await stock.accepts(files['event.json']!, files['receipt.cose']!))
        accepted.push(`${row.set.name}: ${row.what}`);
    }
    expect(accepted).toEqual([]);
    expect(asked).toBeGreaterThan(1000);
  }, 600_000);
});
