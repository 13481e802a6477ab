import { closeAll } from '../../src/platform/close-all.js';
import type { Logger } from '../../src/platform/logger.js';
import type { Observation } from '../operation/capture-sequence.js';
import { type GapReportParts, reportGaps } from './report-gaps.js';

const GAP_QUEUE = 'conserver-gaps';
const SCHEDULE_ID = 'daily';
/** After midnight UTC, when the day's entries have settled. */
const PATTERN = '30 1 * * *';
const OPTIONS = { attempts: 50, backoff: { type: 'fixed', delay: 60_000 }, removeOnComplete: true, removeOnFail: 10 };

/** Reports gaps every day until it is closed; if several plugins share a queue, one of them does. */
export async function startGapReport(
  parts: GapReportParts & {
    readonly logger: Logger;
    observe(): Observation;
    /** Counts vCons in the records. */
    counted(vcons: number): void;
  },
): Promise<{ close(): Promise<void> }> {
  const { backend, logger } = parts;
  const schedule = await backend.keepSchedule({
    queue: GAP_QUEUE,
    id: SCHEDULE_ID,
    repeat: { pattern: PATTERN },
    options: OPTIONS,
  });
  const worker = backend.worker(GAP_QUEUE, async () => {
    const { day, vcons } = await reportGaps(parts, parts.observe());
    parts.counted(vcons);
    if (vcons > 0) logger.error({ day, vcons }, 'capture and egress disagree: a gap record is sent to the log');
  });
  worker.on('failed', (_job, error) => logger.warn({ err: error }, 'gaps could not be reported yet'));
  return { close: () => closeAll([() => worker.close(), () => schedule.close()]) };
}
