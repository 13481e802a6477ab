import { auditSpeed } from './audit-speed.js';
import type { BenchRun } from './bench-run.js';
import { confirmedTime } from './confirmed-time.js';
import { consoleTime } from './console-time.js';
import { firstVisit } from './first-visit.js';
import type { GoalMeasure } from './goal-measure.js';
import type { Found } from './goal-row.js';
import type { GoalId } from './goals.js';
import { healthBesideRudeCallers } from './health-beside-rude-callers.js';
import { loopHolds } from './loop-holds.js';
import { memoryAfterStart } from './memory-after-start.js';
import { offlineVerification } from './offline-verification.js';
import { postsToExpress } from './posts-to-express.js';
import { sequencerCost } from './sequencer-cost.js';
import { greatSizeCost, sizeCost } from './size-cost.js';
import { startToReady } from './start-to-ready.js';
import { sustainedPosts } from './sustained-posts.js';
import { waysToReceipts } from './ways-to-receipts.js';

const GOAL_MEASURES: readonly GoalMeasure[] = [
  postsToExpress,
  sustainedPosts,
  confirmedTime,
  consoleTime,
  firstVisit,
  sequencerCost,
  sizeCost,
  greatSizeCost,
  startToReady,
  memoryAfterStart,
  waysToReceipts,
  offlineVerification,
  auditSpeed,
  loopHolds,
  healthBesideRudeCallers,
];

/**
 * Runs every measurement of a selected goal, one after the other. The goals of a measurement that fails get no figure,
 * and `failed` is called with the reason; so do those of one that runs only by name.
 * @param named whether a goal was asked for by its name
 * @param within opens a run, and closes everything that the measurement opened in it
 */
export async function measureGoals(
  { selected, named }: Readonly<Record<'selected' | 'named', (id: GoalId) => boolean>>,
  within: <Result>(work: (run: BenchRun) => Promise<Result>) => Promise<Result>,
  failed: (reason: string) => void,
): Promise<ReadonlyMap<GoalId, Found>> {
  const found = new Map<GoalId, Found>();
  for (const { goals, measure, onlyByName } of GOAL_MEASURES.filter((each) => each.goals.some(selected))) {
    if (onlyByName !== undefined && !goals.some(named)) {
      for (const id of goals) found.set(id, { notMeasured: onlyByName });
      continue;
    }
    const measured = await within(measure).catch((error: unknown) => {
      const notMeasured = `failed: ${error instanceof Error ? error.message : String(error)}`;
      failed(`${goals.join(', ')} ${notMeasured}`);
      return new Map<GoalId, Found>(goals.map((id) => [id, { notMeasured }]));
    });
    for (const [id, each] of measured) found.set(id, each);
  }
  return found;
}
