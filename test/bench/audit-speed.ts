import { availableParallelism } from 'node:os';
import { type AuditFigures, measureAudit } from './audit-figures.js';
import type { BenchRun } from './bench-run.js';
import { recordInBulk } from './bulk-client.js';
import type { GoalMeasure } from './goal-measure.js';
import type { Found } from './goal-row.js';
import type { GoalId } from './goals.js';
import { assetEventItem } from './grown-events.js';
import { allPublished, openMeasuring, until } from './logged-events.js';
import { rawVerifies } from './raw-signatures.js';
import { median, rounded } from './statistics.js';

const GOALS = ['audit-leaves', 'audit-statements'] as const satisfies GoalId[];

/** How fast `vcon-archivist audit` makes every log anew, with and without a signed statement for each event. */
export const auditSpeed: GoalMeasure = {
  goals: GOALS,
  async measure(run) {
    const perSecond = rawVerifies() * availableParallelism();
    const why =
      'leaves/s if every processor only verified ES256 signatures; each event has two leaves and one statement';
    return new Map<GoalId, Found>([
      ['audit-leaves', await audited(run, plainEvent, 1)],
      ['audit-statements', { ...(await audited(run, assetEventItem, 2)), floor: { figure: 2 * perSecond, why } }],
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

/** Events of a portion: the bodies of all requests at once would not fit in memory. */
const PORTION = 10_000;

/** Leaves per second in each round, in a deployment with these events only. @param leavesEach leaves of an event */
async function audited(run: BenchRun, eventOf: typeof assetEventItem, leavesEach: number): Promise<Found> {
  const measuring = await openMeasuring(run);
  if ('notMeasured' in measuring) return measuring;
  const { auditedLeaves, rounds } = run.plan;
  const service = await run.startOn(measuring.engine);
  const { assets } = service.target;
  for (let next = 0; next < auditedLeaves / leavesEach; next += PORTION) {
    const count = Math.min(PORTION, auditedLeaves / leavesEach - next);
    const events = Array.from({ length: count }, (_, place) =>
      eventOf(next + place, assets[(next + place) % assets.length]!),
    );
    await recordInBulk(service, '/archivist/v2/assets/-/events:bulk', events);
  }
  await until(() => allPublished(measuring));
  const figures: AuditFigures[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const figure = await measureAudit(measuring.engine);
    figures.push(figure);
    run.say(`audit of ${figure.leaves} leaves: ${Math.round(figure.leavesPerSecond)} leaves/s`);
  }
  await service.stop();
  const start = rounded(median(figures.map(({ startSeconds }) => startSeconds)));
  const note = `${figures[0]!.leaves} leaves, and ${start} s for the start of the program beside it`;
  return { rounds: figures.map(({ leavesPerSecond }) => leavesPerSecond), note };
}
