import { availableParallelism } from 'node:os';
import { measureAudit } from './audit-figures.js';
import type { BenchRun } from './bench-run.js';
import { recordInBulk } from './bulk-client.js';
import type { GoalMeasure } from './goal-measure.js';
import type { Found } from './goal-row.js';
import type { GoalId } from './goals.js';
import { assetEventItem } from './grown-events.js';
import { allPublished, openMeasuring, until } from './logged-events.js';
import { rawVerifies } from './raw-signatures.js';

const GOALS = ['audit-leaves', 'audit-statements'] as const satisfies GoalId[];

/** How fast `vcon-archivist audit` makes every log anew, with and without a signed statement for each event. */
export const auditSpeed: GoalMeasure = {
  goals: GOALS,
  async measure(run) {
    const perSecond = rawVerifies() * availableParallelism();
    const why =
      'leaves/s if every processor only verified ES256 signatures; each event has two leaves and one statement';
    return new Map<GoalId, Found>([
      ['audit-leaves', await audited(run, plainEvent)],
      ['audit-statements', { ...(await audited(run, assetEventItem)), floor: { figure: 2 * perSecond, why } }],
    ]);
  },
};

/** An event that gets no statement. */
function plainEvent(number: number, { assetId }: { readonly assetId: string }): Record<string, unknown> {
  return {
    asset_identity: `assets/${assetId}`,
    operation: 'Record',
    behaviour: 'RecordEvidence',
    event_attributes: {
      arc_description: `step ${number} of a process that no plugin captures`,
      bench_step: `${number}`,
    },
  };
}

/** Leaves per second in each round, in a deployment with these events only. */
async function audited(run: BenchRun, eventOf: typeof assetEventItem): Promise<Found> {
  const measuring = await openMeasuring(run);
  if ('notMeasured' in measuring) return measuring;
  const { auditedEvents, rounds } = run.plan;
  const service = await run.startOn(measuring.engine);
  const { assets } = service.target;
  const events = Array.from({ length: auditedEvents }, (_, number) => eventOf(number, assets[number % assets.length]!));
  await recordInBulk(service, '/archivist/v2/assets/-/events:bulk', events);
  await until(() => allPublished(measuring));
  const speeds: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const { leaves, leavesPerSecond } = await measureAudit(measuring.engine);
    speeds.push(leavesPerSecond);
    run.say(`audit of ${leaves} leaves: ${Math.round(leavesPerSecond)} leaves/s`);
  }
  await service.stop();
  return { rounds: speeds };
}
