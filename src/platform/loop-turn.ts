/** Long work begins no more pieces in a turn of the event loop that has lasted so long. */
const TURN_MS = 8;

/** When the first piece of this turn began. */
let turnBegan: number | undefined;
const waiting: (() => void)[] = [];

/**
 * Called before each piece of long work, so that other requests are served in between, also when several such works go
 * on at once: together they have one turn of the event loop after the other, each for 8 ms and the time of one piece,
 * and the one that has waited longest begins it.
 * @returns undefined if the piece may begin at once; otherwise a promise that resolves when it may
 */
export function loopTurn(): Promise<void> | undefined {
  if (turnBegan === undefined) beginTurn();
  else if (performance.now() - turnBegan >= TURN_MS) return new Promise((resolve) => waiting.push(resolve));
  return undefined;
}

function beginTurn(): void {
  turnBegan = performance.now();
  setImmediate(endTurn);
}

function endTurn(): void {
  turnBegan = undefined;
  const next = waiting.shift();
  if (!next) return;
  beginTurn();
  next();
}
