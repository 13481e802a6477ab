import type { LogRef } from './log.js';

/** Lets rounds run: of one log never two at once, of different logs a few. */
export interface RoundQueue {
  /** Resolves when a round that began after this call has ended and left nothing to do; rejects with what it throws. */
  run(log: LogRef): Promise<void>;
  /** Starts no more rounds and resolves when those that run have ended. */
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

/** @param round runs one round and answers whether work is left */
export function createRoundQueue(parallel: number, round: (log: LogRef) => Promise<boolean>): RoundQueue {
  /** Rounds to start, by log, in the order in which they were asked for. */
  const waiting = new Map<string, Pending>();
  const running = new Map<string, Promise<void>>();
  let closed = false;

  const keyOf = (log: LogRef): string => `${log.tenantId}/${log.logId}`;

  async function runOne(key: string, asked: Pending): Promise<void> {
    try {
      // Behind the others: a busy log takes its turn again like any log.
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
