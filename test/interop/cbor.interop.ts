import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toHex } from '../../src/core/bytes.js';
import { type CborValue, encodeCbor } from '../../src/core/cose/cbor.js';
import { buildGoChecks, type GoChecks, hasGo } from './go.js';
import { installPackages, type PythonEnvironment, python } from './python.js';

const RECODE = fileURLToPath(new URL('recode.py', import.meta.url));
const ITEMS = 2_000;
const SEED = 9052;

/** Values of the kinds that we write, with map keys that `key` makes. */
function values(key: fc.Arbitrary<string | number>): fc.Arbitrary<CborValue> {
  const { item } = fc.letrec<{ item: CborValue }>((tie) => ({
    item: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      fc.oneof(
        fc.boolean(),
        fc.constant(null),
        fc.integer(),
        fc.bigInt({ min: -(2n ** 64n) + 1n, max: 2n ** 64n - 1n }),
        fc.string({ unit: 'grapheme', maxLength: 40 }),
        fc.uint8Array({ maxLength: 300 }),
      ),
      fc.array(tie('item'), { maxLength: 30 }),
      fc.array(fc.tuple(key, tie('item')), { maxLength: 30 }).map((entries) => new Map(entries)),
    ),
  }));
  return item;
}

const text = fc.string({ unit: 'grapheme', maxLength: 40 });
/** In keys of one byte and in texts the older canonical order and the deterministic one are the same. */
const oneOrder = fc.oneof(text, fc.integer({ min: 0, max: 23 }));
const anyKey = fc.oneof(text, fc.integer({ min: -70_000, max: 70_000 }));
const encoded = (key: fc.Arbitrary<string | number>) =>
  fc.sample(values(key), { numRuns: ITEMS, seed: SEED }).map((value) => toHex(encodeCbor(value)));

describe.skipIf(!python && !hasGo)('the CBOR that we write', () => {
  let folder: string;
  let pythonPackages: PythonEnvironment | undefined;
  let go: GoChecks | undefined;
  beforeAll(async () => {
    if (python) pythonPackages = await installPackages('cbor2==5.8.0');
    if (hasGo) go = await buildGoChecks();
    folder = await mkdtemp(join(tmpdir(), 'archivist-cbor-'));
  });
  afterAll(async () => {
    await pythonPackages?.remove();
    await go?.remove();
    if (folder) await rm(folder, { recursive: true });
  });

  const written = async (items: readonly string[]) => {
    const path = join(folder, 'items');
    await writeFile(path, `${items.join('\n')}\n`);
    return path;
  };

  it.skipIf(!hasGo)('is what fxamacker writes deterministically of the same value, byte for byte', async () => {
    const items = encoded(anyKey);
    const { out, err, code } = await go!.run(folder, await written(items));
    expect([code, err]).toEqual([0, '']);
    expect(out.trim().split('\n')).toEqual(items);
  });

  it.skipIf(!python)('is what cbor2 writes canonically of the same value, byte for byte', async () => {
    const items = encoded(oneOrder);
    const { out, err, code } = await pythonPackages!.run(RECODE, await written(items));
    expect([code, err]).toEqual([0, '']);
    expect(out.trim().split('\n')).toEqual(items);
  });
});
