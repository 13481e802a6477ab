import { isOwner } from '../../iam/access/owner-and-creator.js';
import { findApplication } from '../../iam/applications/application-store.js';
import { lockForCounting } from '../../iam/tenancies/quota-store.js';
import type { Clock } from '../../platform/clock.js';
import { ApiError } from '../../platform/errors.js';
import type { Principal } from '../../platform/http/principal.js';
import type { Ids } from '../../platform/ids.js';
import { condition } from '../../platform/listing/condition.js';
import { listPage, type Page } from '../../platform/listing/list-page.js';
import { readListQuery } from '../../platform/listing/list-query.js';
import { noSuchFilter } from '../../platform/listing/no-such-filter.js';
import type { Database, Tx } from '../../platform/postgres/database.js';
import type { PageTokens } from '../../platform/postgres/page-token.js';
import { queueNotices } from '../webhooks/queue-notices.js';
import {
  type CaptureReport,
  type CaptureReportBody,
  type CaptureState,
  captureReportResponse,
  newLetters,
} from './capture-report.js';
import {
  captureReportRows,
  countSources,
  deleteOldReports,
  insertReport,
  lockReport,
  updateReport,
} from './capture-report-store.js';

/** Queues of one application. */
const MOST_SOURCES = 16;
/** A source that has not reported for so long makes room for a new one. */
const FORGOTTEN_MS = 30 * 24 * 3600 * 1000;
/** A report from further in the future comes from a clock that was wrong; it does not hold up the next one. */
const SKEW_MS = 5 * 60 * 1000;

export interface CaptureReportDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly pageTokens: PageTokens;
}

/**
 * Stores how the capture of an application stands, in place of what the same source reported before, and tells webhooks
 * of new dead letters in the same transaction. Repeating a report changes nothing, and neither does an earlier one that
 * arrives late.
 * @throws {ApiError} forbidden unless the caller is an application of this service, quota_reached
 */
export function reportCapture(
  deps: CaptureReportDeps,
  principal: Principal,
  { source, observed_at, ...state }: CaptureReportBody,
): Promise<Record<string, unknown>> {
  const { tenantId, subject: applicationId } = principal;
  const report: CaptureReport = {
    ...{ tenantId, applicationId, source, state },
    reportId: deps.ids.uuid(),
    observedAt: new Date(observed_at),
    reportedAt: new Date(deps.clock.now()),
  };
  return deps.database.inTransaction({ read: [tenantId], write: [tenantId] }, async (tx) => {
    if (principal.kind !== 'application' || !(await findApplication(tx, { tenantId, applicationId }, 'kept')))
      throw new ApiError('forbidden', 'Only applications of the tenancy may report their capture.');
    return captureReportResponse(await store(tx, deps, report));
  });
}

async function store(tx: Tx, deps: CaptureReportDeps, report: CaptureReport): Promise<CaptureReport> {
  const before = (await lockReport(tx, report)) ?? (await requireRoomForSource(tx, report));
  if (!before) {
    await insertReport(tx, report);
    await tell(tx, deps, report, NOTHING);
    return report;
  }
  const isLate = report.observedAt < before.observedAt;
  if (isLate && before.observedAt.getTime() <= report.reportedAt.getTime() + SKEW_MS) return before;
  const after = { ...report, reportId: before.reportId };
  await updateReport(tx, after);
  await tell(tx, deps, after, before.state);
  return after;
}

/**
 * Sources of one tenancy begin one after the other, so that those that begin at once cannot be too many. Resolves with
 * the report that another request has stored meanwhile. @throws {ApiError} quota_reached
 */
async function requireRoomForSource(tx: Tx, report: CaptureReport): Promise<CaptureReport | undefined> {
  await lockForCounting(tx, report.tenantId);
  const meanwhile = await lockReport(tx, report);
  if (meanwhile) return meanwhile;
  await deleteOldReports(tx, report, new Date(report.reportedAt.getTime() - FORGOTTEN_MS));
  if ((await countSources(tx, report)) >= MOST_SOURCES)
    throw new ApiError('quota_reached', `An application reports at most ${MOST_SOURCES} queues.`);
  return undefined;
}

const NOTHING: Pick<CaptureState, 'letters'> = { letters: [] };

async function tell(
  tx: Tx,
  { ids }: CaptureReportDeps,
  report: CaptureReport,
  before: Pick<CaptureState, 'letters'>,
): Promise<void> {
  const { tenantId, applicationId, source, state, reportedAt } = report;
  const letters = newLetters(before, state);
  if (letters.length === 0) return;
  const data = { application: `applications/${applicationId}`, source, dead_letters: state.dead_letters, letters };
  await queueNotices(tx, ids, {
    tenantId,
    eventType: 'capture.dead_letters',
    about: [{ readers: { applicationId }, data }],
    createdAt: reportedAt,
  });
}

/**
 * A page of the last reports, newest source first: to an Owner of all applications, to an application its own.
 * @throws {ApiError} forbidden, bad_request
 */
export function listCaptureReports(
  deps: CaptureReportDeps,
  principal: Principal,
  request: { readonly query: Readonly<Record<string, unknown>>; readonly exactTotal: boolean },
): Promise<Page<Record<string, unknown>>> {
  const { tenantId, kind, subject } = principal;
  const readsAll = isOwner(principal);
  if (!readsAll && kind !== 'application')
    throw new ApiError('forbidden', 'Only Owners may read all reports; an application may read its own.');
  const list = `capture reports ${tenantId} ${readsAll ? '' : subject}`;
  const query = readListQuery(request.query, list, deps.pageTokens);
  for (const [name] of query.filters) throw noSuchFilter(name, []);
  const own = readsAll ? [] : [condition('c.application_id = ?', subject)];
  const conditions = [condition('c.tenant_id = ?', tenantId), ...own];
  return deps.database.inTransaction({ read: [tenantId], write: [] }, async (tx) => {
    const reader = captureReportRows.reader(tx, query.filters);
    const { exactTotal } = request;
    const page = await listPage(reader, { list, query, conditions, exactTotal, tokens: deps.pageTokens });
    return { ...page, entries: page.entries.map(captureReportResponse) };
  });
}
