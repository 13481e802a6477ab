import { createRepeat } from '../ledger/repeat.js';
import type { Clock } from '../platform/clock.js';
import { type Feature, WORKER_ROLES } from '../platform/feature.js';
import type { QueueBackend } from '../platform/queue/queue-backend.js';
import { removeSchedule, startScheduledJob } from '../platform/queue/scheduled-job.js';
import { type AuditSettings, type ScheduledAuditDeps, scheduledAudit, tellLastAudit } from './scheduled-audit.js';

const NAME = 'log-audit';
/** An audit that a restart has stopped continues in the next process. */
const RETRY = { attempts: 5, delayMs: 60_000 };
/** Another process may run the audit. */
const LOOKED_EVERY_MS = 30_000;

interface AuditBase extends Omit<ScheduledAuditDeps, 'settings' | 'clock'> {
  readonly rightClock: Clock;
  readonly backend: QueueBackend;
}

/**
 * The audit of all logs by the service itself.
 * @param settings.auditSchedule a cron pattern in UTC; undefined: no audit
 */
export function openScheduledAudit(
  base: AuditBase,
  settings: AuditSettings & { readonly auditSchedule: string | undefined },
): Feature {
  const start = () => runScheduledAudit({ ...base, clock: base.rightClock, settings, pattern: settings.auditSchedule });
  return { jobs: [{ roles: WORKER_ROLES, start }] };
}

/**
 * Audits the logs by a schedule, a cron pattern in UTC; without one, not. Keeps the metrics at the last result, whichever
 * process had it.
 */
async function runScheduledAudit(
  deps: ScheduledAuditDeps & { readonly backend: QueueBackend; readonly pattern: string | undefined },
): Promise<{ close(): Promise<void> }> {
  const { backend, pattern, logger } = deps;
  const look = createRepeat(
    () => LOOKED_EVERY_MS,
    () =>
      tellLastAudit(deps).catch((error: unknown) =>
        logger.warn({ err: error }, 'the result of the last audit cannot be read'),
      ),
  );
  if (pattern === undefined) await removeSchedule(backend, NAME);
  const job =
    pattern === undefined
      ? undefined
      : await startScheduledJob(deps, {
          name: NAME,
          pattern,
          retry: RETRY,
          run: (stopping) => scheduledAudit(deps, stopping),
        });
  look.start();
  return {
    async close() {
      await look.stop();
      await job?.close();
    },
  };
}
