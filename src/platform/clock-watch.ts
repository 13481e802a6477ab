import type { Clock } from './clock.js';
import type { Logger } from './logger.js';

/** The clock of this machine cannot be trusted; the message says why. It clears when the clock is right again. */
export class ClockWrong extends Error {
  override readonly name = 'ClockWrong';
  /** One cause in the log, though the message changes every second. */
  readonly code = 'CLOCK_WRONG';
}

/** The clock and another machine's may differ by this much. */
export const MOST_OFFSET_MS = 5_000;
/** A time service corrects small errors in steps; a larger step is made by somebody. */
const MOST_STEP_MS = 60_000;
/** A difference between two clocks of the process that is worth a look. */
const WORTH_A_LOOK_MS = 1_000;

/** How far a clock that showed `beforeMs` and then `afterMs` is ahead of another one, read in between; in milliseconds. */
export function clockOffset(otherMs: number, beforeMs: number, afterMs: number): number {
  return beforeMs > otherMs ? beforeMs - otherMs : Math.min(0, afterMs - otherMs);
}

/** Knows whether the clock of this machine is right, as far as anything contradicts it. */
export interface ClockWatch {
  /** Unix milliseconds of a clock that is right. @throws {ClockWrong} */
  readonly right: Clock;
  /** @throws {ClockWrong} */
  require(): void;
  /** Why the clock is wrong; undefined if nothing contradicts it. */
  fault(): string | undefined;
  /** Tells what another clock showed between two readings of this one. */
  compare(otherMs: number, beforeMs: number, afterMs: number): void;
  /** Something was signed with this time. */
  notBefore(unixMs: number): void;
}

interface ClockWatchParts {
  readonly clock: Clock;
  /** Milliseconds since the machine started, also while it slept. Setting the clock does not change them. */
  readonly uptimeMs: () => number;
  /** Milliseconds of a cheaper clock that nobody sets. */
  readonly monotonicMs: () => number;
  /** No time from here on can be signed (Unix milliseconds). */
  readonly endMs: number;
  /** The clock that it is compared with, such as `the database's`. */
  readonly other: string;
  /** What does not happen while the clock is wrong, for the log. */
  readonly meanwhile: string;
  readonly logger: Logger;
  /** Called when the fault or the offset changes; the offset is this clock less the other one, in milliseconds. */
  readonly changed: (state: { readonly wrong: boolean; readonly offsetMs: number }) => void;
}

const seconds = (ms: number): string => `${Math.round(Math.abs(ms) / 1_000)} s`;

/**
 * Takes the clock as wrong if it has stepped by more than a minute since the start (until it is set back, or the process
 * restarts; a step that ends a difference from the other clock is a correction), differs from the other one by more than
 * five seconds, shows a time before the last seal, or shows a time that ids cannot hold.
 */
export function createClockWatch(parts: ClockWatchParts): ClockWatch {
  const { clock, uptimeMs, monotonicMs, endMs, other, meanwhile, logger, changed } = parts;
  /** Unix time at the start of the machine, as long as the clock is not set. */
  let base = clock.now() - uptimeMs();
  let cheapBase = clock.now() - monotonicMs();
  let stepMs = 0;
  let stepAtCompareMs = 0;
  let offsetMs = 0;
  let floorMs = Number.NEGATIVE_INFINITY;
  let told: string | undefined;

  function lookForStep(nowMs: number): void {
    const since = nowMs - uptimeMs();
    cheapBase = nowMs - monotonicMs();
    stepMs = since - base;
    if (Math.abs(stepMs) > MOST_STEP_MS) return;
    // A time service moves the clock slowly, for as long as the process runs.
    base = since;
    stepMs = 0;
  }

  /** Whether the clock, wrong by the other one until now, has been set by just as much. */
  function isCorrection(offBefore: number): boolean {
    if (Math.abs(offBefore) <= MOST_OFFSET_MS || Math.abs(offsetMs) > MOST_OFFSET_MS) return false;
    return Math.abs(stepMs - stepAtCompareMs + offBefore) <= MOST_OFFSET_MS;
  }

  function faultAt(nowMs: number): string | undefined {
    if (nowMs >= endMs) return `the clock shows ${new Date(nowMs).toISOString()}, and ids end before that`;
    if (stepMs !== 0)
      return `the clock was set ${stepMs > 0 ? 'forward' : 'back'} by ${seconds(stepMs)} while this program ran`;
    if (Math.abs(offsetMs) > MOST_OFFSET_MS)
      return `the clock is ${seconds(offsetMs)} ${offsetMs > 0 ? 'ahead of' : 'behind'} ${other}`;
    if (nowMs < floorMs - MOST_OFFSET_MS) return `the clock is ${seconds(floorMs - nowMs)} behind the last seal`;
    return undefined;
  }

  function look(): string | undefined {
    const nowMs = clock.now();
    if (Math.abs(nowMs - monotonicMs() - cheapBase) > WORTH_A_LOOK_MS || stepMs !== 0) lookForStep(nowMs);
    const fault = faultAt(nowMs);
    if ((fault === undefined) !== (told === undefined)) {
      if (fault) logger.error({ reason: fault }, `the clock is wrong: ${meanwhile}`);
      else logger.warn('the clock is right again');
      changed({ wrong: fault !== undefined, offsetMs });
    }
    told = fault;
    return fault;
  }

  function require(): void {
    const fault = look();
    if (fault !== undefined) throw new ClockWrong(fault);
  }

  return {
    right: {
      now() {
        require();
        return clock.now();
      },
    },
    require,
    fault: look,
    compare(otherMs, beforeMs, afterMs) {
      lookForStep(clock.now());
      const offBefore = offsetMs;
      offsetMs = clockOffset(otherMs, beforeMs, afterMs);
      if (isCorrection(offBefore)) {
        base += stepMs;
        stepMs = 0;
      }
      stepAtCompareMs = stepMs;
      look();
      changed({ wrong: told !== undefined, offsetMs });
    },
    notBefore(unixMs) {
      floorMs = Math.max(floorMs, unixMs);
      look();
    },
  };
}
