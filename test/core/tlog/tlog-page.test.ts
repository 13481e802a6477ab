import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { decodeCheckpoint } from '../../../src/core/tlog/checkpoint.js';
import { decodeVkey, verifyNote } from '../../../src/core/tlog/signed-note.js';
import { tilePath } from '../../../src/core/tlog/tile.js';
import { readFixtureFile } from '../../support/read-fixture-file.js';

const PAGE = readFileSync(new URL('../../../docs/formats/tlog.md', import.meta.url), 'utf8');

/** The code block under a path on the page. */
function shown(path: string): string {
  const [, block] = new RegExp(`\`${path}\`:\\n\\n\`\`\`\\n([^\`]+)\`\`\``).exec(PAGE)!;
  return block!;
}
const bytes = (path: string) => Buffer.from(shown(path).replaceAll('\n', ''), 'hex');
const hash = (...parts: Uint8Array[]) => createHash('sha256').update(Buffer.concat(parts)).digest();

/** Entries of a bundle, by the words of the page. */
function entriesOf(bundle: Buffer): Buffer[] {
  if (bundle.length === 0) return [];
  const end = 2 + bundle.readUInt16BE();
  return [bundle.subarray(2, end), ...entriesOf(bundle.subarray(end))];
}

it('the example of the page follows from its rules, and is that of the known log', async () => {
  const { entries: known } = readFixtureFile<{ entries: string[] }>('rfc9162/tree.json');
  const { checkpoints } = readFixtureFile<{ checkpoints: { vkey: string; items: { text: string }[] } }>(
    'tlog/c2sp.json',
  );
  const name = { index: 0n, width: 3 };
  const entries = entriesOf(bytes(`tile/${tilePath({ level: 'entries', ...name })}`));
  expect(entries.map(String)).toEqual(known.slice(0, 3));
  const leaves = entries.map((entry) => hash(Buffer.of(0), entry));
  expect(Buffer.concat(leaves)).toEqual(bytes(`tile/${tilePath({ level: 0, ...name })}`));
  const root = hash(Buffer.of(1), hash(Buffer.of(1), leaves[0]!, leaves[1]!), leaves[2]!);
  expect(shown('checkpoint')).toBe(checkpoints.items[3]!.text);
  expect(shown('vkey').trim()).toBe(checkpoints.vkey);
  const note = await verifyNote(shown('checkpoint'), [decodeVkey(shown('vkey').trim())]);
  expect(decodeCheckpoint(note)).toEqual({
    origin: 'example.com/log/testdata',
    size: 3n,
    root: new Uint8Array(root),
  });
});

it('the paths that the page names are those of the code', () => {
  const named = [...PAGE.matchAll(/(\d+) is `([x\d/]+)`/g)].map(([, index, path]) => [index, path]);
  expect(named).toHaveLength(3);
  for (const [index, path] of named)
    expect(tilePath({ level: 0, index: BigInt(index!), width: 256 })).toBe(`0/${path}`);
});
