import { randomUUID } from 'node:crypto';
import type { Clock } from '../../src/platform/clock.js';
import { closeAll } from '../../src/platform/close-all.js';
import { UUID } from '../../src/platform/config-values.js';
import type { Logger } from '../../src/platform/logger.js';
import type { QueueBackend } from '../../src/platform/queue/queue-backend.js';
import type { ArchivistClients } from '../archivist-client/archivist-clients.js';
import { EventRefused } from '../archivist-client/delivery-failure.js';
import type { Memory } from '../memory/memory.js';
import { captureReports } from './capture-reports.js';

const REPORT_QUEUE = 'conserver-reports';
const SCHEDULE_ID = 'minutely';
const EVERY_MS = 60_000;
const FORGOTTEN = { removeOnComplete: true, removeOnFail: true };
const NOT_FOUND = 404;

interface ReportingParts {
  readonly backend: QueueBackend;
  readonly memory: Memory;
  /** Has the gap records. */
  readonly passages: Memory;
  readonly clients: ArchivistClients;
  readonly tenancies: readonly string[];
  readonly clock: Clock;
  readonly clockIsWrong: () => boolean;
  readonly logger: Logger;
}

/**
 * The name under which all plugins of this queue report: chosen once, and remembered beside the queue. One that was not
 * read well is chosen anew: it would be refused for ever.
 */
async function sourceOf(memory: Memory): Promise<string> {
  const { source: kept = '' } = await memory.read('reporter', 'queue');
  const source = UUID.test(kept) ? kept : randomUUID();
  await memory.write('reporter', 'queue', { source });
  return source;
}

/**
 * Reports depth, dead letters and gaps of the queue to the service, for each tenancy to itself. A tenancy that cannot be
 * told does not keep the others from it. Nothing is reported by a wrong clock.
 */
export async function reportCapture(parts: ReportingParts): Promise<void> {
  const { memory, passages, clients, clock, clockIsWrong, logger } = parts;
  if (clockIsWrong()) return;
  const reports = await captureReports({
    ...parts,
    memory: passages,
    source: await sourceOf(memory),
    nowMs: clock.now(),
  });
  for (const [tenancy, report] of reports) {
    try {
      await clients(tenancy).reportCapture(report);
    } catch (error) {
      // A service of an earlier version takes no reports.
      if (error instanceof EventRefused && error.status === NOT_FOUND) continue;
      logger.warn({ err: error, ...(tenancy ? { tenancy } : {}) }, 'the state of capture could not be reported');
    }
  }
}

/** Reports every minute until it is closed; if several plugins share a queue, one of them does. */
export async function startCaptureReport(parts: ReportingParts): Promise<{ close(): Promise<void> }> {
  const { backend, logger } = parts;
  const schedule = await backend.keepSchedule({
    queue: REPORT_QUEUE,
    id: SCHEDULE_ID,
    repeat: { every: EVERY_MS },
    options: FORGOTTEN,
  });
  const worker = backend.worker(REPORT_QUEUE, () => reportCapture(parts));
  worker.on('failed', (_job, error) => logger.warn({ err: error }, 'the state of capture could not be reported'));
  return { close: () => closeAll([() => worker.close(), () => schedule.close()]) };
}
