import type { Haste } from './haste.js';
import type { LogRef } from './log.js';
import { createRequestedRounds, type RequestedRound, roundKey } from './requested-rounds.js';
import { createPace } from './round-pace.js';

/** Schedules rounds: never two at once for one log, and a limited number for different logs. */
interface RoundQueue {
  /**
   * Resolves when a round that began after this call has ended with no work left; rejects with the round's error.
   * @param entries how many began to wait, as far as the caller knows
   * @param ended called as soon as one round that began after this call has ended, whatever it came to
   */
  run(log: LogRef, haste: Haste, entries: number, ended?: () => void): Promise<void>;
  isRunning(log: LogRef): boolean;
  /** Starts no more rounds and resolves when the running ones have ended. */
  close(): Promise<void>;
}

interface RunningRound extends Pick<RequestedRound, 'haste' | 'sinceMs'> {
  readonly ended: Promise<void>;
}

/** Runs one round and returns whether work is left. */
type Round = (log: LogRef) => Promise<boolean>;

/**
 * @param parallel how many rounds may run at once
 * @param nowMs a clock that never steps
 */
export function createRoundQueue(parallel: number, round: Round, nowMs: () => number): RoundQueue {
  const requested = createRequestedRounds(nowMs);
  const running = new Map<string, RunningRound>();
  const pace = createPace(nowMs);
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  async function runOne(asked: RequestedRound): Promise<void> {
    const begunMs = nowMs();
    try {
      // Behind the others: a busy log waits for its turn like any other log.
      if ((await round(asked.log)) && !closed) requested.again(asked);
      else asked.resolve();
    } catch (error) {
      asked.reject(error);
    } finally {
      for (const tell of asked.ended.splice(0)) tell();
      running.delete(asked.key);
      pace.ended(asked, begunMs, asked.entries <= 1 && !requested.has(asked.key));
      startSome();
    }
  }

  function startSome(): void {
    clearTimeout(timer);
    if (closed || running.size >= parallel) return;
    const planned = pace.plan(requested.all(), [...running.values()]).filter(({ asked }) => !running.has(asked.key));
    for (const { asked, dueMs } of planned) {
      if (running.size >= parallel) return;
      const early = dueMs - nowMs();
      if (early > 0) {
        timer = setTimeout(startSome, Math.ceil(early));
        return;
      }
      requested.remove(asked.key);
      running.set(asked.key, { haste: asked.haste, sinceMs: asked.sinceMs, ended: runOne(asked) });
    }
  }

  return {
    run(log, haste, entries, ended) {
      if (closed) return Promise.reject(new Error('the ledger is stopped'));
      const asked = requested.add(log, haste, entries);
      if (ended) asked.ended.push(ended);
      startSome();
      return asked.done;
    },
    isRunning: (log) => running.has(roundKey(log)),
    async close() {
      closed = true;
      clearTimeout(timer);
      requested.close();
      await Promise.all([...running.values()].map(({ ended }) => ended));
    },
  };
}
