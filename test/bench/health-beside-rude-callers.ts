import { monitorEventLoopDelay } from 'node:perf_hooks';
import { behaveRudely, type RudeRow } from '../faults/behave-rudely.js';
import { rudeBehaviours } from '../faults/rude-behaviours.js';
import type { GoalMeasure } from './goal-measure.js';
import type { Finding } from './goal-row.js';
import { rounded } from './statistics.js';

const SHOWN = 5;

/**
 * The slowest answer of `/healthz` while callers are rude: the fault tests hold that it is answered beside each rude
 * behaviour, and leave how soon to a quiet machine.
 */
export const healthBesideRudeCallers: GoalMeasure = {
  goals: ['healthz-beside-rude-callers'],
  async measure(run) {
    const { url, headers } = await run.startOn('embedded');
    const token = headers['authorization']!.slice('Bearer '.length);
    const own = monitorEventLoopDelay({ resolution: 1 });
    own.enable();
    const { rows, medianMs } = await behaveRudely(url, rudeBehaviours(token));
    for (const { name, slowestMs } of slowestFirst(rows).slice(0, SHOWN))
      run.say(`beside ${name}: ${rounded(slowestMs)} ms`);
    run.say(
      `${rows.length} behaviours, median ${rounded(medianMs)} ms; the callers' own process was held ${rounded(own.max / 1e6)} ms`,
    );
    return new Map([['healthz-beside-rude-callers', besideSlowest(rows)]]);
  },
};

type SlowestBeside = Pick<RudeRow, 'name' | 'slowestMs'>;

/** The slowest answer of all, and which behaviour it was beside. */
export function besideSlowest(rows: readonly SlowestBeside[]): Finding {
  const { name, slowestMs } = slowestFirst(rows)[0]!;
  return { rounds: [slowestMs], note: `slowest of ${rows.length}: beside ${name}` };
}

function slowestFirst(rows: readonly SlowestBeside[]): SlowestBeside[] {
  return [...rows].sort((one, other) => other.slowestMs - one.slowestMs);
}
