import { monitorEventLoopDelay } from 'node:perf_hooks';
import { behaveRudely } from '../faults/behave-rudely.js';
import { rudeBehaviours } from '../faults/rude-behaviours.js';
import type { GoalMeasure } from './goal-measure.js';
import { rounded } from './statistics.js';

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
    const slowest = [...rows].sort((one, other) => other.slowestMs - one.slowestMs);
    for (const { name, slowestMs } of slowest.slice(0, 5)) run.say(`beside ${name}: ${rounded(slowestMs)} ms`);
    run.say(
      `${rows.length} behaviours, median ${rounded(medianMs)} ms; the callers' own process was held ${rounded(own.max / 1e6)} ms`,
    );
    return new Map([['healthz-beside-rude-callers', { rounds: [slowest[0]!.slowestMs] }]]);
  },
};
