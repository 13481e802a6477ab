import type { LogRef } from './log.js';
import { BATCH } from './waiting-batch.js';

/**
 * How soon a round begins. `urgent`: a caller waits for its seal. `soon`: as soon as its turn comes. `paced`: at once if
 * the log was quiet or a whole batch waits, otherwise after a pause, and not beside urgent rounds, so that a busy service
 * works on larger batches.
 */
export type Haste = 'urgent' | 'soon' | 'paced';

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

/** The pause of a log is so many times as long as its last round: its paced rounds take a fifth of the time at most. */
const PAUSE_OF_ROUND = 4;
/**
 * A paced round waits no longer than this for more entries, or for urgent rounds to go first. With a third of it,
 * two of five rounds under a stream of registrations were those for which nobody waits.
 */
const MOST_PAUSE_MS = 300;
/** Where a turn is free, an urgent round takes it before rounds that were requested up to this much earlier. */
const FIRST_BY_MS = 100;
/**
 * Paced rounds begin this long after the last urgent one: a client that registers one statement after another sends the
 * next one sooner, and would have to wait for them.
 */
const AFTER_URGENT_MS = 25;
/** Rounds that are requested within this time are of one accept, which nudges its logs in their order. */
const TOGETHER_MS = 1;
/**
 * A lone entry of a log waits no longer than this for the round of another log that was requested with it. Side by side,
 * each makes the other slower, and an event is confirmed by the first.
 */
const MOST_AFTER_MS = 25;
/** It begins this long after the end of that round: a client may now be asking for what the round has confirmed. */
const AFTER_FIRST_MS = 10;

interface Pending {
  readonly log: LogRef;
  haste: Haste;
  /** How many began to wait since the last round began. */
  entries: number;
  readonly sinceMs: number;
  /** Who waits for the end of one round. */
  readonly ended: (() => void)[];
  readonly done: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

function pending(log: LogRef, haste: Haste, sinceMs: number): Pending {
  let [resolve, reject]: [() => void, (reason: unknown) => void] = [() => {}, () => {}];
  const done = new Promise<void>((fulfil, refuse) => {
    [resolve, reject] = [fulfil, refuse];
  });
  return { log, haste, entries: 0, sinceMs, ended: [], done, resolve, reject };
}

const HASTES: readonly Haste[] = ['paced', 'soon', 'urgent'];
const sooner = (one: Haste, other: Haste): Haste => (HASTES.indexOf(one) < HASTES.indexOf(other) ? other : one);

/** What else there is to do. */
interface Beside {
  /** An urgent round runs or waits. */
  readonly urgent: boolean;
  /** When the rounds that run were requested. */
  readonly runningSinceMs: readonly number[];
}

/** Tells when paced rounds may begin. */
interface Pace {
  /** @param quiet whether the round took one entry at most and nobody has asked since: a pause would gather nothing */
  ended(key: string, asked: Pending, begunMs: number, quiet: boolean): void;
  /** The moment from which this round may begin; the earliest goes first. It may become earlier or later. */
  dueMs(key: string, asked: Pending, beside: Beside): number;
}

function createPace(nowMs: () => number): Pace {
  /** The end of each log's pause, while it lasts. */
  const pauses = new Map<string, number>();
  let quietMs = 0;
  /** The round that ended last: when it was requested, and when it ended. */
  let last = { sinceMs: Number.NEGATIVE_INFINITY, endedMs: 0 };

  /** When a round no longer waits for the one that was requested with it. */
  function afterFirstMs(entries: number, sinceMs: number, runningSinceMs: readonly number[]): number {
    const isWith = (first: number): boolean => Math.abs(sinceMs - first) <= TOGETHER_MS;
    if (entries > 1) return sinceMs;
    if (runningSinceMs.some(isWith)) return sinceMs + MOST_AFTER_MS;
    return isWith(last.sinceMs) ? Math.min(sinceMs + MOST_AFTER_MS, last.endedMs + AFTER_FIRST_MS) : sinceMs;
  }

  return {
    ended(key, { haste, sinceMs }, begunMs, quiet) {
      const now = nowMs();
      const tookMs = now - begunMs;
      if (quiet) pauses.delete(key);
      else pauses.set(key, now + PAUSE_OF_ROUND * tookMs);
      last = { sinceMs, endedMs: now };
      if (haste === 'urgent') quietMs = now + Math.max(AFTER_URGENT_MS, tookMs);
      if (pauses.size > 1_000) for (const [each, until] of pauses) if (until < now) pauses.delete(each);
    },
    dueMs(key, { haste, entries, sinceMs }, { urgent, runningSinceMs }) {
      if (haste === 'urgent') return sinceMs - FIRST_BY_MS;
      if (haste === 'soon') return sinceMs;
      if (urgent) return sinceMs + MOST_PAUSE_MS;
      if (entries >= BATCH) return sinceMs;
      return Math.min(
        sinceMs + MOST_PAUSE_MS,
        Math.max(afterFirstMs(entries, sinceMs, runningSinceMs), quietMs, pauses.get(key) ?? 0),
      );
    },
  };
}

/**
 * @param round runs one round and returns whether work is left
 * @param nowMs a clock that never steps
 */
export function createRoundQueue(
  parallel: number,
  round: (log: LogRef) => Promise<boolean>,
  nowMs: () => number,
): RoundQueue {
  /** Rounds to start, by log, in the order of the requests. */
  const waiting = new Map<string, Pending>();
  const running = new Map<string, { readonly haste: Haste; readonly sinceMs: number; readonly ended: Promise<void> }>();
  const pace = createPace(nowMs);
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const keyOf = (log: LogRef): string => `${log.tenantId}/${log.logId}`;

  async function runOne(key: string, asked: Pending): Promise<void> {
    const begunMs = nowMs();
    try {
      // Behind the others: a busy log waits for its turn like any other log.
      if ((await round(asked.log)) && !closed) again(key, asked);
      else asked.resolve();
    } catch (error) {
      asked.reject(error);
    } finally {
      for (const tell of asked.ended.splice(0)) tell();
      running.delete(key);
      pace.ended(key, asked, begunMs, asked.entries <= 1 && !waiting.has(key));
      startSome();
    }
  }

  /** More waits than one round takes: a pause would make no batch larger. */
  function again(key: string, asked: Pending): void {
    const other = waiting.get(key);
    if (!other) {
      waiting.set(key, { ...asked, haste: sooner(asked.haste, 'soon'), sinceMs: nowMs() });
      return;
    }
    other.haste = sooner(other.haste, 'soon');
    other.done.then(asked.resolve, asked.reject);
  }

  function startSome(): void {
    clearTimeout(timer);
    if (closed || running.size >= parallel) return;
    const beside = {
      urgent: [...waiting.values(), ...running.values()].some(({ haste }) => haste === 'urgent'),
      runningSinceMs: [...running.values()].map(({ sinceMs }) => sinceMs),
    };
    const ordered = [...waiting]
      .map(([key, asked]) => ({ key, asked, dueMs: pace.dueMs(key, asked, beside) }))
      .filter(({ key }) => !running.has(key))
      .sort((one, other) => one.dueMs - other.dueMs);
    for (const { key, asked, dueMs } of ordered) {
      if (running.size >= parallel) return;
      const early = dueMs - nowMs();
      if (early > 0) {
        timer = setTimeout(startSome, Math.ceil(early));
        return;
      }
      waiting.delete(key);
      running.set(key, { haste: asked.haste, sinceMs: asked.sinceMs, ended: runOne(key, asked) });
    }
  }

  return {
    run(log, haste, entries, ended) {
      if (closed) return Promise.reject(new Error('the ledger is stopped'));
      const key = keyOf(log);
      const asked = waiting.get(key) ?? pending(log, haste, nowMs());
      asked.haste = sooner(asked.haste, haste);
      asked.entries += entries;
      if (ended) asked.ended.push(ended);
      waiting.set(key, asked);
      startSome();
      return asked.done;
    },
    isRunning: (log) => running.has(keyOf(log)),
    async close() {
      closed = true;
      clearTimeout(timer);
      for (const asked of waiting.values()) asked.resolve();
      waiting.clear();
      await Promise.all([...running.values()].map(({ ended }) => ended));
    },
  };
}
