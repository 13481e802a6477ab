import type { BenchRun } from './bench-run.js';
import type { Found } from './goal-row.js';
import type { GoalId } from './goals.js';

/** Measures some of the goals, on services that it starts itself. */
export interface GoalMeasure {
  readonly goals: readonly GoalId[];
  /** Why a full run leaves it out unless one of its goals is named. */
  readonly onlyByName?: string;
  /** Resolves to what it found for each of its goals. */
  measure(run: BenchRun): Promise<ReadonlyMap<GoalId, Found>>;
}
