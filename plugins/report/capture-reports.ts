import type { Job, JobType } from 'bullmq';
import type { QueueBackend } from '../../src/platform/queue/queue-backend.js';
import type { CaptureReport, ReportedDay, ReportedLetter } from '../archivist-client/capture-report.js';
import { ageOf, deliveryState } from '../delivery/delivery-metrics.js';
import type { Memory } from '../memory/memory.js';
import { OPERATION_QUEUE, type OperationJob } from '../operation/operation-job.js';
import { type GapRecord, gapPayload, vconsOf } from '../tap/gap-event.js';

/** What the service takes of each (src/archivist/captures/capture-report.ts). */
const MOST_LETTERS = 500;
const MOST_GAP_DAYS = 31;
const LOOKED_AT = 1_000;
const UNDELIVERED: JobType[] = ['waiting', 'active', 'delayed', 'prioritized'];
const VCON = /^vcon:\/\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const HASH = /^[0-9a-f]{64,128}$/;

interface ReportParts {
  readonly backend: QueueBackend;
  readonly memory: Memory;
  readonly source: string;
  /** Of a clock that is right. */
  readonly nowMs: number;
  /** Labels of the tenancies beside the plugin's own. */
  readonly tenancies: readonly string[];
}

/**
 * How capture stands, for each tenancy that the plugin delivers to: the plugin's own under undefined. A report names
 * only what is the tenancy's; none is exact while the queue has operations of a tenancy that no report is for. @throws when the queue or the memory does not answer
 */
export async function captureReports(parts: ReportParts): Promise<Map<string | undefined, CaptureReport>> {
  const { backend, source, nowMs, tenancies } = parts;
  const queue = backend.queue(OPERATION_QUEUE);
  const failed = (await queue.getJobs(['failed'], 0, LOOKED_AT - 1, false)).filter(Boolean) as Job[];
  const common = { source, observed_at: new Date(nowMs).toISOString() };
  const waiting = (await queue.getJobs(UNDELIVERED, 0, LOOKED_AT - 1, true)).filter(Boolean) as Job[];
  const served = [undefined, ...tenancies];
  const strange = [...waiting, ...failed].some((job) => !served.includes(tenancyOf(job)));
  // The counts of the queue are those of its only tenancy.
  const counted = tenancies.length === 0 && !strange ? await deliveryState(backend, nowMs) : undefined;
  const exact = counted !== undefined || (!strange && waiting.length < LOOKED_AT && failed.length < LOOKED_AT);
  const reports = new Map<string | undefined, CaptureReport>();
  for (const tenancy of served) {
    const own = waiting.filter((job) => tenancyOf(job) === tenancy);
    const letters = failed.filter((job) => tenancyOf(job) === tenancy);
    reports.set(tenancy, {
      ...common,
      depth: counted?.depth ?? own.length,
      oldest_seconds: own.reduce((most, job) => Math.max(most, ageOf(job, nowMs)), 0),
      dead_letters: counted?.deadLetters ?? letters.length,
      exact,
      letters: reported(letters),
      // Gap records are events of the plugin's own tenancy.
      gaps: tenancy === undefined ? await gapDays(parts.memory) : [],
    });
  }
  return reports;
}

const tenancyOf = (job: Job): string | undefined => (job.data as OperationJob).tenancy;

function reported(jobs: readonly Job[]): ReportedLetter[] {
  const named = jobs.filter(({ id }) => id !== undefined && HASH.test(id));
  return named.slice(0, MOST_LETTERS).map(({ id, ...job }) => {
    const { subject, payload } = job.data as OperationJob;
    return {
      job: id!,
      operation: job.name,
      ...(VCON.test(subject) ? { subject } : {}),
      ...(HASH.test(payload) ? { payload } : {}),
      failed_at: new Date(job.finishedOn ?? job.timestamp).toISOString(),
    };
  });
}

/** The last days whose gap records were stored for delivery. */
async function gapDays(memory: Memory): Promise<ReportedDay[]> {
  const days: ReportedDay[] = [];
  for await (const day of memory.names('gaps')) {
    const { documents, recorded } = await memory.read('gaps', day);
    if (!documents || !recorded) continue;
    const records = JSON.parse(documents) as string[];
    const vcons = records.reduce((sum, each) => sum + vconsOf(JSON.parse(each) as GapRecord).length, 0);
    if (vcons > 0) days.push({ day, vcons, payloads: records.map(gapPayload) });
  }
  return days.sort((left, right) => (left.day < right.day ? 1 : -1)).slice(0, MOST_GAP_DAYS);
}
