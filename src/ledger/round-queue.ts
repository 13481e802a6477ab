import type { ComingStatements } from './coming-statements.js';
import type { Haste } from './haste.js';
import type { LogRef } from './log.js';
import { createRequestedRounds, type RequestedRound, roundKey } from './requested-rounds.js';
import { createPace } from './round-pace.js';

/** Schedules rounds: never two at once for one log, and a limited number for different logs. */
interface RoundQueue {
  /**
   * Resolves when a round that began after this call has ended with no work left; rejects with the round's error. An
   * urgent call that names no entries joins the early round that runs, if nothing else was requested: a caller waits for
   * what it began with.
   * @param entries how many began to wait, as far as the caller knows
   * @param ended called as soon as one round that began after this call has ended, whatever it came to
   */
  run(log: LogRef, haste: Haste, entries: number, ended?: () => void): Promise<void>;
  /**
   * Begins the round of statements that are coming at once, if nothing runs or was requested for the log and a round may
   * begin. Settles like `run`.
   * @returns undefined if it does not begin
   */
  begin(log: LogRef, coming: ComingStatements): Promise<void> | undefined;
  /** Whether a round of the log runs that reads what waits for it: not one of statements that are coming. */
  isReading(log: LogRef): boolean;
  /** Starts no more rounds and resolves when the running ones have ended. */
  close(): Promise<void>;
}

interface RunningRound extends Pick<RequestedRound, 'haste' | 'sinceMs'> {
  readonly ended: Promise<void>;
  /** Its statements were coming when it began. */
  readonly isEarly: boolean;
}

/** Runs one round and returns whether work is left. */
type Round = (log: LogRef, coming?: ComingStatements) => Promise<boolean>;

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

  function start(asked: RequestedRound, coming?: ComingStatements): Promise<void> {
    const begunMs = nowMs();
    requested.remove(asked.key);
    // Behind the others: a busy log waits for its turn like any other log.
    const ended = settleRound(asked, round(asked.log, coming), requested.again).then(() => {
      running.delete(asked.key);
      pace.ended(asked, begunMs, asked.entries <= 1 && !requested.has(asked.key));
      startSome();
    });
    running.set(asked.key, { haste: asked.haste, sinceMs: asked.sinceMs, ended, isEarly: coming !== undefined });
    return asked.done;
  }

  function startSome(): void {
    clearTimeout(timer);
    if (closed || running.size >= parallel) return;
    const planned = pace.plan(requested.all(), [...running.values()]).filter(({ asked }) => !running.has(asked.key));
    for (const { asked, dueMs } of planned) {
      if (running.size >= parallel) return;
      if (dueMs > nowMs()) {
        timer = setTimeout(startSome, Math.ceil(dueMs - nowMs()));
        return;
      }
      void start(asked);
    }
  }

  return {
    run(log, haste, entries, ended) {
      if (closed) return Promise.reject(new Error('the ledger is stopped'));
      const now = running.get(roundKey(log));
      if (now?.isEarly && haste === 'urgent' && entries === 0 && !requested.has(roundKey(log))) return now.ended;
      const asked = requested.add(log, haste, entries);
      if (ended) asked.ended.push(ended);
      startSome();
      return asked.done;
    },
    begin(log, coming) {
      const key = roundKey(log);
      if (closed || running.has(key) || requested.has(key) || running.size >= parallel) return undefined;
      return start(requested.add(log, 'urgent', coming.statements.length), coming);
    },
    isReading: (log) => running.get(roundKey(log))?.isEarly === false,
    async close() {
      closed = true;
      clearTimeout(timer);
      requested.close();
      await Promise.all([...running.values()].map(({ ended }) => ended));
    },
  };
}

/** Tells those who asked for a round what came of it. @param again called if work is left */
async function settleRound(
  asked: RequestedRound,
  round: Promise<boolean>,
  again: (asked: RequestedRound) => void,
): Promise<void> {
  try {
    if (await round) again(asked);
    else asked.resolve();
  } catch (error) {
    asked.reject(error);
  }
  for (const tell of asked.ended.splice(0)) tell();
}
