import type { QueueBackend } from '../../platform/queue/queue-backend.js';
import { type ScheduledJob, startScheduledJob } from '../../platform/queue/scheduled-job.js';
import { runWitnessRound, type WitnessDeps } from './witness-round.js';

/** Has the public statement log cosigned every few seconds; only one process does it at a time. */
export function startWitnessJob(
  deps: WitnessDeps & {
    readonly backend: QueueBackend;
    readonly everySeconds: number;
    /** Called after each round with whether everything published is cosigned. */
    readonly witnessed: (complete: boolean) => void;
  },
): Promise<ScheduledJob> {
  return startScheduledJob(deps, {
    name: 'witness',
    pattern: `*/${deps.everySeconds} * * * * *`,
    run: async () => {
      const { registered, cosignatures, cosigned, complete } = await runWitnessRound(deps);
      deps.witnessed(complete);
      return { registered, cosignatures, ...(cosigned === undefined ? {} : { cosigned: String(cosigned) }) };
    },
  });
}
