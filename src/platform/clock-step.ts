import type { Clock } from './clock.js';
import { MOST_OFFSET_MS } from './clock-offset.js';

/** A time service corrects small errors in steps; a larger step is made by somebody. */
const MOST_STEP_MS = 60_000;
/** A difference between two clocks of the process that is worth a look. */
const WORTH_A_LOOK_MS = 1_000;

export interface StepClocks {
  readonly clock: Clock;
  /** Milliseconds since the machine started, also while it slept. Setting the clock does not change them. */
  readonly uptimeMs: () => number;
  /** Milliseconds of a cheaper clock that nobody sets. */
  readonly monotonicMs: () => number;
}

/** By how much somebody has set the clock while the process runs. */
interface ClockStep {
  /** Milliseconds, as of the last look; negative if the clock was set back, 0 if it was not set. */
  ms(): number;
  look(nowMs: number): void;
  /** Looks if the clock was set until now, or a cheaper clock disagrees with it. */
  glance(nowMs: number): void;
  /** Told how far the clock was ahead of another one before, and is now. A step that ends a difference is a correction. */
  compared(offBeforeMs: number, offNowMs: number): void;
}

/** Begins to follow the clock: what it shows now counts as not set. */
export function followClockStep({ clock, uptimeMs, monotonicMs }: StepClocks): ClockStep {
  /** Unix time at the start of the machine, as long as the clock is not set. */
  let base = clock.now() - uptimeMs();
  let cheapBase = clock.now() - monotonicMs();
  let stepMs = 0;
  let stepAtCompareMs = 0;

  function look(nowMs: number): void {
    const since = nowMs - uptimeMs();
    cheapBase = nowMs - monotonicMs();
    stepMs = since - base;
    if (Math.abs(stepMs) > MOST_STEP_MS) return;
    // A time service moves the clock slowly, for as long as the process runs.
    base = since;
    stepMs = 0;
  }

  return {
    ms: () => stepMs,
    look,
    glance(nowMs) {
      if (Math.abs(nowMs - monotonicMs() - cheapBase) > WORTH_A_LOOK_MS || stepMs !== 0) look(nowMs);
    },
    compared(offBeforeMs, offNowMs) {
      if (isCorrection(stepMs - stepAtCompareMs, offBeforeMs, offNowMs)) {
        base += stepMs;
        stepMs = 0;
      }
      stepAtCompareMs = stepMs;
    },
  };
}

/** Whether the clock, wrong by the other one until now, has been set by just as much. */
function isCorrection(setByMs: number, offBeforeMs: number, offNowMs: number): boolean {
  if (Math.abs(offBeforeMs) <= MOST_OFFSET_MS || Math.abs(offNowMs) > MOST_OFFSET_MS) return false;
  return Math.abs(setByMs + offBeforeMs) <= MOST_OFFSET_MS;
}
