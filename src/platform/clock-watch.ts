import type { Clock } from './clock.js';
import { clockOffset, MOST_DIFFERENCE_MS, MOST_OFFSET_MS } from './clock-offset.js';
import { followClockStep, type StepClocks } from './clock-step.js';
import type { Logger } from './logger.js';

/** The clock of this machine cannot be trusted; the message says why. It clears when the clock is right again. */
export class ClockWrong extends Error {
  override readonly name = 'ClockWrong';
  /** One cause in the log, though the message changes every second. */
  readonly code = 'CLOCK_WRONG';
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
  /** Something was signed with this time, perhaps by another process. */
  notBefore(unixMs: number): void;
}

interface ClockWatchParts extends StepClocks {
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
 * five seconds, shows a time more than ten seconds before the last seal, or shows a time that ids cannot hold.
 */
export function createClockWatch(parts: ClockWatchParts): ClockWatch {
  const { clock, endMs, other, meanwhile, logger, changed } = parts;
  const step = followClockStep(parts);
  let offsetMs = 0;
  let floorMs = Number.NEGATIVE_INFINITY;
  let told: string | undefined;

  function faultAt(nowMs: number): string | undefined {
    if (nowMs >= endMs) return `the clock shows ${new Date(nowMs).toISOString()}, and ids end before that`;
    const stepMs = step.ms();
    if (stepMs !== 0)
      return `the clock was set ${stepMs > 0 ? 'forward' : 'back'} by ${seconds(stepMs)} while this program ran`;
    if (Math.abs(offsetMs) > MOST_OFFSET_MS)
      return `the clock is ${seconds(offsetMs)} ${offsetMs > 0 ? 'ahead of' : 'behind'} ${other}`;
    if (nowMs < floorMs - MOST_DIFFERENCE_MS) return `the clock is ${seconds(floorMs - nowMs)} behind the last seal`;
    return undefined;
  }

  function look(): string | undefined {
    const nowMs = clock.now();
    step.glance(nowMs);
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
      step.look(clock.now());
      const offBeforeMs = offsetMs;
      offsetMs = clockOffset(otherMs, beforeMs, afterMs);
      step.compared(offBeforeMs, offsetMs);
      look();
      changed({ wrong: told !== undefined, offsetMs });
    },
    notBefore(unixMs) {
      floorMs = Math.max(floorMs, unixMs);
      look();
    },
  };
}
