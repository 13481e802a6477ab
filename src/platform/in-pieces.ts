import { setImmediate as nextTurn } from 'node:timers/promises';

/** Nothing else is served for this time and that of one item. */
const PIECE_MS = 8;

/** Maps a list in its order, and lets other requests be served in between. */
export async function inPieces<Item, Result>(items: Iterable<Item>, map: (item: Item) => Result): Promise<Result[]> {
  const results: Result[] = [];
  let begun = performance.now();
  for (const item of items) {
    results.push(map(item));
    if (performance.now() - begun < PIECE_MS) continue;
    await nextTurn();
    begun = performance.now();
  }
  return results;
}
