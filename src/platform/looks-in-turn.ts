import type { Clock } from './clock.js';

/** Looks at something that others change, one look at a time. */
interface LooksInTurn {
  /** Looks after the look under way, if there is one: what was changed before the call is seen. */
  now(): Promise<void>;
  /** Shares the look under way; otherwise looks, unless a caller has made it look a short while ago. */
  soon(): Promise<void>;
  /** Resolves when no look is under way; never fails. */
  ended(): Promise<void>;
}

/** @param atMostEveryMs the shortest time between two looks that `soon` begins */
export function looksInTurn(look: () => Promise<void>, clock: Clock, atMostEveryMs: number): LooksInTurn {
  let soonAt = 0;
  let looking: Promise<void> | undefined;

  async function lookAfter(before: Promise<void> | undefined): Promise<void> {
    await before?.catch(() => undefined);
    await look();
  }

  function now(): Promise<void> {
    const begun = lookAfter(looking).finally(() => {
      if (looking === begun) looking = undefined;
    });
    looking = begun;
    return begun;
  }

  return {
    now,
    soon() {
      if (looking) return looking;
      const nowMs = clock.now();
      if (Math.abs(nowMs - soonAt) < atMostEveryMs) return Promise.resolve();
      soonAt = nowMs;
      return now();
    },
    ended: async () => looking?.catch(() => undefined),
  };
}
