import type { EngineName } from '../faults/deployment.js';
import { expectFlat, median } from './flat-figures.js';
import { live, type Plan } from './kill-rounds.js';
import type { ProcessFigures } from './process-figures.js';
import { beginLife, type Life } from './soak-life.js';
import { type EngineResults, emptyResults } from './soak-results.js';

/** Starts at the beginning and at the end of a database whose figures are compared. */
const COMPARED_STARTS = 10;

/**
 * Kills the service on one database after the other until the plan or the time is over, and at least on one.
 * @param each told after each database, also one with a failure
 * @throws for the first invariant that does not hold, which `failure` names
 */
export async function soakEngine(
  engine: EngineName,
  plan: Plan,
  until: number,
  each: (counts: EngineResults) => Promise<void>,
): Promise<EngineResults> {
  const counts = emptyResults(engine === 'embedded' ? 'embedded' : 'PostgreSQL and Redis');
  const begun = Date.now();
  const [first, last]: [ProcessFigures[], ProcessFigures[]] = [[], []];
  try {
    do {
      const life = await beginLife(engine);
      try {
        await live(life, counts, plan, until);
      } finally {
        record(life, counts);
        if (life.starts.length >= 2 * COMPARED_STARTS) {
          first.push(...life.starts.slice(0, COMPARED_STARTS));
          last.push(...life.starts.slice(-COMPARED_STARTS));
          counts.firstStarts = median(first);
          counts.lastStarts = median(last);
        }
        counts.hours = (Date.now() - begun) / 3_600_000;
        await life.close();
      }
      if (counts.firstStarts && counts.lastStarts) expectFlat(counts.firstStarts, counts.lastStarts);
      await each(counts);
    } while (counts.databases < plan.databases && Date.now() < until);
  } catch (error) {
    counts.failure = error instanceof Error ? error.message.split('\n')[0]! : String(error);
    await each(counts);
    throw error;
  }
  return counts;
}

function record(life: Life, counts: EngineResults): void {
  counts.databases += 1;
  counts.proofs += life.follower.proofs;
  const acknowledged = { event: life.journal.acknowledged.length, ...life.load.counts() };
  for (const [kind, count] of Object.entries(acknowledged))
    counts.acknowledged[kind] = (counts.acknowledged[kind] ?? 0) + count;
}
