import { expect, it } from 'vitest';
import { checkedLeaves } from '../../src/cli/monitor/checked-tiles.js';
import { utf8 } from '../../src/core/bytes.js';
import { appendLeaves } from '../../src/core/mmr/append-leaves.js';
import { rfc9162Leaf } from '../../src/core/rfc9162/rfc9162-leaf.js';
import { rfc9162Parent } from '../../src/core/rfc9162/rfc9162-parent.js';
import { flipBit } from '../core/massif/sample-log.js';
import { followRig } from './follow-rig.js';
import { type Answer, sampleStatementLog } from './sample-published-logs.js';

const entries = (word: string) => Array.from({ length: 600 }, (_, number) => utf8(`${word} ${number}`));
const log = sampleStatementLog('log/0192e8f5-0000-7000-8000-000000000009');
const shown = log.published(entries('entry'));
const leaves = entries('entry').map((entry) => rfc9162Leaf(entry));
const tree = { size: 600n, peaks: appendLeaves(rfc9162Parent, 0n, [], leaves).peaks };
const rig = followRig();

/** Shows other bytes under the paths that end so. */
const instead =
  (end: string, change: (tile: Uint8Array) => Uint8Array): Answer =>
  async (path) => {
    const tile = await shown(path);
    return path.endsWith(end) && tile instanceof Uint8Array ? change(tile) : tile;
  };

it('the leaf hashes of each tile of a proven tree are read, whatever was read before', async () => {
  rig.answer = shown;
  const leavesOf = checkedLeaves(`${rig.url}/log`, tree);
  for (const index of [2, 0, 1, 2])
    expect(await leavesOf(BigInt(index))).toEqual(leaves.slice(256 * index, 256 * (index + 1)));
});

it.each<[string, bigint, Answer, string, string]>([
  [
    'a full tile',
    0n,
    instead('/tile/0/000', (tile) => flipBit(tile, 0)),
    'leaf_mismatch',
    'tile 0 of level 0 is not in',
  ],
  ['the last tile', 2n, instead('.p/88', (tile) => flipBit(tile, 0)), 'leaf_mismatch', 'tile 2 of level 0 is not in'],
  ['two levels', 1n, log.published(entries('forged')), 'leaf_mismatch', 'tile 0 of level 1 is not in the tree'],
  [
    'a tile cut short',
    0n,
    instead('/tile/0/000', (tile) => tile.slice(32)),
    'malformed',
    'is 8160 bytes long, not 256 hashes',
  ],
  [
    'a tile with more',
    2n,
    instead('.p/88', (tile) => new Uint8Array([...tile, 0])),
    'malformed',
    'is 2817 bytes long, not 88',
  ],
])('hashes that the proven tree does not hold are refused: %s', async (_, index, answer, code, says) => {
  rig.answer = answer;
  const refused = checkedLeaves(`${rig.url}/log`, tree)(index);
  await expect(refused).rejects.toMatchObject({ code, message: expect.stringContaining(says) });
});
