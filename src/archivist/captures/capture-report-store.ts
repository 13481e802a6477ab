import { rowList } from '../../platform/listing/row-list-store.js';
import { selected, table } from '../../platform/postgres/columns.js';
import type { Tx } from '../../platform/postgres/database.js';
import { insertRows } from '../../platform/postgres/insert-rows.js';
import { findRow, updateRows } from '../../platform/postgres/rows-by-key.js';
import type { CaptureReport } from './capture-report.js';

const REPORT = table('capture_report').columns<CaptureReport>({
  tenantId: 'tenant_id',
  reportId: 'report_id',
  applicationId: 'application_id',
  source: 'source',
  observedAt: 'observed_at',
  reportedAt: 'reported_at',
  state: 'state',
});
/** Conditions of a list refer to the table as `c`. */
const COLUMNS = selected(REPORT, 'c');

type Source = Pick<CaptureReport, 'tenantId' | 'applicationId' | 'source'>;

/** Inserts the first report of a source. */
export async function insertReport(tx: Tx, report: CaptureReport): Promise<void> {
  await insertRows(tx, REPORT, [report]);
}

/** Locks and returns the last report of a source. */
export function lockReport(tx: Tx, source: Source): Promise<CaptureReport | undefined> {
  return findRow(tx, REPORT, ['tenantId', 'applicationId', 'source'], source, 'FOR UPDATE');
}

export async function updateReport(tx: Tx, report: CaptureReport): Promise<void> {
  await updateRows(tx, REPORT, ['tenantId', 'reportId'], ['observedAt', 'reportedAt', 'state'], report);
}

/** Number of sources of an application. */
export async function countSources(tx: Tx, { tenantId, applicationId }: Omit<Source, 'source'>): Promise<number> {
  const [row] = await tx.query<{ count: bigint }>(
    'SELECT count(*) AS count FROM archivist.capture_report WHERE tenant_id = $1 AND application_id = $2',
    [tenantId, applicationId],
  );
  return Number(row!.count);
}

/** Deletes the reports of sources of an application that have not reported since then. */
export async function deleteOldReports(
  tx: Tx,
  { tenantId, applicationId }: Omit<Source, 'source'>,
  before: Date,
): Promise<void> {
  await tx.execute(
    'DELETE FROM archivist.capture_report WHERE tenant_id = $1 AND application_id = $2 AND reported_at < $3',
    [tenantId, applicationId, before],
  );
}

/** Conditions refer to a row as `c`. */
export const captureReportRows = rowList<CaptureReport>({
  from: 'archivist.capture_report c',
  columns: COLUMNS,
  large: ['state'],
  idColumn: 'c.report_id',
  idOf: ({ reportId }) => reportId,
});
