import type { QueueBackend } from '../../platform/queue/queue-backend.js';
import { type ScheduledJob, startScheduledJob } from '../../platform/queue/scheduled-job.js';
import { runWitnessRound, type WitnessDeps } from './witness-round.js';

/** Every so many rounds, witnesses are asked whose cosignature a quorum did not need: they may be gone for good. */
const LATE_EVERY = 6;

/** Has the public statement log cosigned every few seconds; only one process does it at a time. */
export function startWitnessJob(
  deps: WitnessDeps & {
    readonly backend: QueueBackend;
    readonly everySeconds: number;
    /** Called after each round with whether everything published is cosigned. */
    readonly witnessed: (complete: boolean) => void;
  },
): Promise<ScheduledJob> {
  let rounds = 0;
  return startScheduledJob(deps, {
    name: 'witness',
    pattern: `*/${deps.everySeconds} * * * * *`,
    run: async () => {
      const late = rounds % LATE_EVERY === 0;
      rounds += 1;
      const { registered, cosignatures, cosigned, complete } = await runWitnessRound(deps, late);
      deps.witnessed(complete);
      return { registered, cosignatures, ...(cosigned === undefined ? {} : { cosigned: String(cosigned) }) };
    },
  });
}
