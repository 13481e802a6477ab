import type { RequestedRound } from './requested-rounds.js';
import { BATCH } from './waiting-batch.js';

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

/** A round that has begun: how it was requested. */
type BegunRound = Pick<RequestedRound, 'haste' | 'sinceMs'>;

/** A requested round, and the moment from which it may begin. */
interface PlannedRound {
  readonly asked: RequestedRound;
  /** May become earlier or later. */
  readonly dueMs: number;
}

/** Tells when paced rounds may begin. */
interface Pace {
  /** @param quiet whether the round took one entry at most and nobody has asked since: a pause would gather nothing */
  ended(asked: RequestedRound, begunMs: number, quiet: boolean): void;
  /** When each of the requested rounds may begin beside those that run; the earliest first. */
  plan(requested: readonly RequestedRound[], running: readonly BegunRound[]): PlannedRound[];
}

/** @param nowMs a clock that never steps */
export function createPace(nowMs: () => number): Pace {
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

  /** @param isUrgent whether an urgent round runs or waits */
  function dueMs(asked: RequestedRound, isUrgent: boolean, runningSinceMs: readonly number[]): number {
    const { key, haste, entries, sinceMs } = asked;
    if (haste === 'urgent') return sinceMs - FIRST_BY_MS;
    if (haste === 'soon') return sinceMs;
    if (isUrgent) return sinceMs + MOST_PAUSE_MS;
    if (entries >= BATCH) return sinceMs;
    return Math.min(
      sinceMs + MOST_PAUSE_MS,
      Math.max(afterFirstMs(entries, sinceMs, runningSinceMs), quietMs, pauses.get(key) ?? 0),
    );
  }

  return {
    ended({ key, haste, sinceMs }, begunMs, quiet) {
      const now = nowMs();
      const tookMs = now - begunMs;
      if (quiet) pauses.delete(key);
      else pauses.set(key, now + PAUSE_OF_ROUND * tookMs);
      last = { sinceMs, endedMs: now };
      if (haste === 'urgent') quietMs = now + Math.max(AFTER_URGENT_MS, tookMs);
      if (pauses.size > 1_000) for (const [each, until] of pauses) if (until < now) pauses.delete(each);
    },
    plan(requested, running) {
      const isUrgent = [...requested, ...running].some(({ haste }) => haste === 'urgent');
      const runningSinceMs = running.map(({ sinceMs }) => sinceMs);
      return requested
        .map((asked) => ({ asked, dueMs: dueMs(asked, isUrgent, runningSinceMs) }))
        .sort((one, other) => one.dueMs - other.dueMs);
    },
  };
}
