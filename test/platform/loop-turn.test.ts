import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { inPieces } from '../../src/platform/in-pieces.js';

const PIECE_MS = 10;

const hold = (): void => {
  for (const begun = performance.now(); performance.now() - begun < PIECE_MS; );
};

describe('long works that go on at once', () => {
  it('have together one piece in each turn of the event loop, and one after the other', async () => {
    const works = ['a', 'b', 'c'];
    const pieces: string[] = [];
    let turns = 0;
    let done = false;
    const counting = (async () => {
      for (; !done; turns += 1) await nextTurn();
    })();
    const work = (name: string) =>
      inPieces(Array.from({ length: 4 }), () => {
        pieces.push(name);
        hold();
      });
    await Promise.all(works.map(work));
    done = true;
    await counting;
    expect(turns).toBeGreaterThanOrEqual(pieces.length - 1);
    // The first work begins at once, and then waits as long as the others.
    const rounds = [1, 4, 7].map((first) => pieces.slice(first, first + works.length).sort());
    expect(rounds).toEqual([works, works, works]);
  });

  it('begin at once where no other has used the turn', async () => {
    const order: string[] = [];
    setImmediate(() => order.push('later'));
    await inPieces([1, 2, 3], (piece) => order.push(`piece ${piece}`));
    expect(order).toEqual(['piece 1', 'piece 2', 'piece 3']);
  });
});
