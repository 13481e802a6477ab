import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { behaveRudely, type RudeRow } from '../faults/behave-rudely.js';
import { rudeBehaviours } from '../faults/rude-behaviours.js';
import { startProgram } from './child-process.js';
import type { GoalMeasure } from './goal-measure.js';
import type { Finding } from './goal-row.js';
import { rounded } from './statistics.js';

const SHOWN = 5;
const BARE = new URL('./plain-http-server.js', import.meta.url);
const ASK_EVERY_MS = 20;

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
    const bare = await startProgram(BARE, {});
    run.onClose(() => bare.stop());
    const asking = askMeanwhile(bare.url);
    const { rows, medianMs } = await behaveRudely(url, rudeBehaviours(token));
    const floorMs = await asking.end();
    for (const { name, slowestMs } of slowestFirst(rows).slice(0, SHOWN))
      run.say(`beside ${name}: ${rounded(slowestMs)} ms`);
    run.say(
      `${rows.length} behaviours, median ${rounded(medianMs)} ms; the callers' own process was held ${rounded(own.max / 1e6)} ms, a bare server answered within ${rounded(floorMs)} ms`,
    );
    const floor = {
      figure: floorMs,
      why: 'the slowest answer of a bare server, which the same process asked meanwhile',
    };
    return new Map([['healthz-beside-rude-callers', { ...besideSlowest(rows), floor }]]);
  },
};

/** Asks a server that nobody is rude to: how long the callers and the machine hold up an answer by themselves. */
function askMeanwhile(url: string): { end(): Promise<number> } {
  let over = false;
  const slowest = (async () => {
    let slowestMs = 0;
    // The first answer loads what it needs.
    for (let number = 0; !over; number += 1) {
      const begun = performance.now();
      await (await fetch(url)).text();
      if (number > 0) slowestMs = Math.max(slowestMs, performance.now() - begun);
      await wait(ASK_EVERY_MS);
    }
    return slowestMs;
  })();
  return {
    end() {
      over = true;
      return slowest;
    },
  };
}

type SlowestBeside = Pick<RudeRow, 'name' | 'slowestMs'>;

/** The slowest answer of all, and which behaviour it was beside. */
export function besideSlowest(rows: readonly SlowestBeside[]): Finding {
  const { name, slowestMs } = slowestFirst(rows)[0]!;
  return { rounds: [slowestMs], note: `slowest of ${rows.length}: beside ${name}` };
}

function slowestFirst(rows: readonly SlowestBeside[]): SlowestBeside[] {
  return [...rows].sort((one, other) => other.slowestMs - one.slowestMs);
}
