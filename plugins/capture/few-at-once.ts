/** Runs work at once, or when its turn comes. Rejects as the work does. */
type FewAtOnce = <Value>(work: () => Promise<Value>) => Promise<Value>;

/**
 * Runs at most so many pieces of work at a time; others wait, first come, first served. Without a bound, pieces that have
 * a time limit and share a slow store use up each other's time, until none of them ends in time.
 * @param placeMs a piece that takes longer goes on, but no longer keeps another one waiting: a connection that never
 * answers must not stop all later work
 */
export function createFewAtOnce(most: number, placeMs: number): FewAtOnce {
  const waiting: (() => void)[] = [];
  let running = 0;

  function leave(): void {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  }

  return async (work) => {
    if (running < most) running += 1;
    else await new Promise<void>((begin) => waiting.push(begin));
    let isIn = true;
    const leaveOnce = (): void => {
      if (isIn) leave();
      isIn = false;
    };
    const late = setTimeout(leaveOnce, placeMs);
    try {
      return await work();
    } finally {
      clearTimeout(late);
      leaveOnce();
    }
  };
}
