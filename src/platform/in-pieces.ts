import { loopTurn } from './loop-turn.js';

/** Maps a list in its order, and lets other requests be served in between. */
export async function inPieces<Item, Result>(items: Iterable<Item>, map: (item: Item) => Result): Promise<Result[]> {
  const results: Result[] = [];
  for (const item of items) {
    const turn = loopTurn();
    if (turn) await turn;
    results.push(map(item));
  }
  return results;
}
