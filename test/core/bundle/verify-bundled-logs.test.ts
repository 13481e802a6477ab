import { expect, it } from 'vitest';
import { verifyBundledLogs } from '../../../src/core/bundle/verify-bundled-logs.js';
import { massifPath, sealPath } from '../../../src/core/massif/blob-paths.js';
import { createVerdict } from '../../../src/core/verify/verdict.js';
import { sampleSealedLog } from '../verify/sample-sealed-log.js';
import { SAMPLE_TENANCY, sampleSigners } from '../verify/sample-transparent-statement.js';

const OTHER_TENANCY = '9f4b1d8a-0000-4000-8000-000000000000';
const trust = { logKeys: [sampleSigners.sealer.publicKey] };
/** Massifs of four leaves. */
const log = sampleSealedLog({ leaves: 8 });

const inBundle = (path: string) => path.replace('v1/mmrs/', 'log/');

/** The files of these massifs at these places of a bundle: a tenancy and a number. */
async function files(...placed: [massif: number, tenancy: string, number: number][]) {
  const all: Record<string, Uint8Array> = {};
  for (const [massif, tenancy, number] of placed) {
    all[inBundle(massifPath(tenancy, number))] = log.massif(massif, 4 * massif + 4);
    all[inBundle(sealPath(tenancy, number))] = await log.seal(4 * massif + 4);
  }
  return all;
}

async function told(given: Record<string, Uint8Array>) {
  const { findings, massifOf } = await verifyBundledLogs(given, trust);
  const { outcome, contradictions, claims } = createVerdict(...findings);
  const codes = contradictions.map(({ code }) => code);
  return { outcome, codes, claims: claims.length, holdsLeaf: log.events.map((event) => massifOf(event) !== undefined) };
}

const held = Array<boolean>(4).fill(true);
const missing = Array<boolean>(4).fill(false);

it('the log of a bundle is proven in its places, also from a later massif on', async () => {
  const both = await told(await files([0, SAMPLE_TENANCY, 0], [1, SAMPLE_TENANCY, 1]));
  expect(both).toMatchObject({ codes: [], claims: 1, holdsLeaf: [...held, ...held] });
  const later = await told(await files([1, SAMPLE_TENANCY, 1]));
  expect(later).toMatchObject({ codes: [], claims: 1, holdsLeaf: [...missing, ...held] });
});

it('a massif in the place of another one is refused, and holds no event', async () => {
  const moved = await told(await files([0, SAMPLE_TENANCY, 1]));
  expect(moved).toMatchObject({ outcome: 'refused', codes: ['massif_corrupt'], claims: 0 });
  expect(moved.holdsLeaf).not.toContain(true);
});

it('a log in the place of another tenancy is refused, and holds no event', async () => {
  const moved = await told(await files([0, OTHER_TENANCY, 0]));
  expect(moved).toMatchObject({ outcome: 'refused', codes: ['log_mismatch'], claims: 0 });
  expect(moved.holdsLeaf).not.toContain(true);
});

it('half a massif is named as unproven', async () => {
  const all = await files([0, SAMPLE_TENANCY, 0]);
  for (const path of Object.keys(all)) {
    const { [path]: _, ...half } = all;
    const { findings } = await verifyBundledLogs(half, trust);
    expect(createVerdict(...findings).notCovered).toMatchObject([{ piece: Object.keys(half)[0], why: 'unproven' }]);
  }
});
