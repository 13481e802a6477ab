import type { LogRef } from './log.js';

/** Schedules rounds: never two at once for one log, and a limited number for different logs. */
interface RoundQueue {
  /** Resolves when a round that began after this call has ended with no work left; rejects with the round's error. */
  run(log: LogRef): Promise<void>;
  /** Starts no more rounds and resolves when the running ones have ended. */
  close(): Promise<void>;
}

interface Pending {
  readonly log: LogRef;
  readonly done: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

function pending(log: LogRef): Pending {
  let [resolve, reject]: [() => void, (reason: unknown) => void] = [() => {}, () => {}];
  const done = new Promise<void>((fulfil, refuse) => {
    [resolve, reject] = [fulfil, refuse];
  });
  return { log, done, resolve, reject };
}

/** @param round runs one round and returns whether work is left */
export function createRoundQueue(parallel: number, round: (log: LogRef) => Promise<boolean>): RoundQueue {
  /** Rounds to start, by log, in the order of the requests. */
  const waiting = new Map<string, Pending>();
  const running = new Map<string, Promise<void>>();
  let closed = false;

  const keyOf = (log: LogRef): string => `${log.tenantId}/${log.logId}`;

  async function runOne(key: string, asked: Pending): Promise<void> {
    try {
      // Behind the others: a busy log waits for its turn like any other log.
      if ((await round(asked.log)) && !closed) again(key, asked);
      else asked.resolve();
    } catch (error) {
      asked.reject(error);
    } finally {
      running.delete(key);
      startSome();
    }
  }

  function again(key: string, asked: Pending): void {
    const other = waiting.get(key);
    if (other) other.done.then(asked.resolve, asked.reject);
    else waiting.set(key, asked);
  }

  function startSome(): void {
    for (const [key, asked] of waiting) {
      if (closed || running.size >= parallel) return;
      if (running.has(key)) continue;
      waiting.delete(key);
      running.set(key, runOne(key, asked));
    }
  }

  return {
    run(log) {
      if (closed) return Promise.reject(new Error('the ledger is stopped'));
      const key = keyOf(log);
      const asked = waiting.get(key) ?? pending(log);
      waiting.set(key, asked);
      startSome();
      return asked.done;
    },
    async close() {
      closed = true;
      for (const asked of waiting.values()) asked.resolve();
      waiting.clear();
      await Promise.all(running.values());
    },
  };
}
