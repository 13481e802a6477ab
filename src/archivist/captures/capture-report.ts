import { z } from 'zod';
import { timestampOf, timestampSchema } from '../../platform/timestamps.js';
import { uuidSchema } from '../../platform/uuid-schema.js';

/** Dead letters that a report names; `dead_letters` counts all of them. */
const MOST_LETTERS = 500;
/** Days with gaps that a report names. */
const MOST_GAP_DAYS = 31;
const MOST_RECORDS = 1_000;

/** The name of an operation as a plugin records it: up to 64 characters were reported, and `vcon_` may stand before them. */
const OPERATION = /^[A-Za-z0-9_-]{1,69}$/;

const count = z.int().min(0).max(Number.MAX_SAFE_INTEGER);
const hash = z.string().regex(/^[0-9a-f]{64,128}$/, 'must be a hash in lower-case hex');
const rfc3339 = z.iso.datetime({ offset: true });

/** An operation that the service has refused for good. */
const deadLetterSchema = z.strictObject({
  /** The job in the plugin's queue, for `vcon-archivist queue`. */
  job: hash,
  operation: z.string().regex(OPERATION, 'must be the name of an operation'),
  subject: z
    .string()
    .regex(/^vcon:\/\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, 'must be vcon:// and a UUID')
    .optional(),
  payload: hash.optional(),
  failed_at: rfc3339,
});

/** A day on which capture and egress disagreed. */
const gapSchema = z.strictObject({
  day: z.iso.date(),
  vcons: count,
  /** The payloads of the day's gap records, which are events (`vcon_capture_gap`). */
  payloads: z.array(hash).max(MOST_RECORDS),
});

const stateSchema = z.strictObject({
  depth: count,
  oldest_seconds: z.number().min(0).max(1e10),
  dead_letters: count,
  /** False if operations are not counted: beyond those that were looked at, or of a tenancy without a report. */
  exact: z.boolean(),
  letters: z.array(deadLetterSchema).max(MOST_LETTERS),
  gaps: z.array(gapSchema).max(MOST_GAP_DAYS),
});

/** What is reported of capture: counts, identities, statuses and hashes. Texts that people wrote have no place in it. */
export type CaptureState = z.output<typeof stateSchema>;

/** Body of `POST /archivist/v1/capture_reports`. */
export const captureReportBodySchema = z.strictObject({
  source: uuidSchema,
  observed_at: rfc3339,
  ...stateSchema.shape,
});
export type CaptureReportBody = z.output<typeof captureReportBodySchema>;

/** A report in a response. */
export const captureReportSchema = z.strictObject({
  identity: z.string(),
  application: z.string(),
  source: z.string(),
  observed_at: timestampSchema,
  reported_at: timestampSchema,
  ...stateSchema.shape,
});

/** The last report of one source. */
export interface CaptureReport {
  readonly tenantId: string;
  readonly reportId: string;
  readonly applicationId: string;
  readonly source: string;
  readonly observedAt: Date;
  readonly reportedAt: Date;
  readonly state: CaptureState;
}

export function captureReportResponse(report: CaptureReport): Record<string, unknown> {
  return {
    identity: `capture_reports/${report.reportId}`,
    application: `applications/${report.applicationId}`,
    source: report.source,
    observed_at: timestampOf(report.observedAt.getTime()),
    reported_at: timestampOf(report.reportedAt.getTime()),
    ...report.state,
  };
}

/**
 * Dead letters that the report before did not have. One that was replayed and refused again is new; one that only moved
 * into the part of the list that is reported is not.
 */
export function newLetters(
  before: Pick<CaptureState, 'letters'>,
  now: Pick<CaptureState, 'letters'>,
): CaptureState['letters'] {
  const known = new Map(before.letters.map(({ job, failed_at }) => [job, Date.parse(failed_at)]));
  const latest = Math.max(Number.NEGATIVE_INFINITY, ...known.values());
  return now.letters.filter(({ job, failed_at }) => {
    const at = Date.parse(failed_at);
    return at >= latest && known.get(job) !== at;
  });
}
