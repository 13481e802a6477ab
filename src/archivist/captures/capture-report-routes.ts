import { wantsExactTotal } from '../../platform/http/exact-total.js';
import { type Route, route } from '../../platform/http/route.js';
import { listQuerySchema } from '../../platform/listing/list-query.js';
import { pageReply, pageSchema } from '../../platform/listing/page-reply.js';
import { captureReportBodySchema, captureReportSchema } from './capture-report.js';
import { type CaptureReportDeps, listCaptureReports, reportCapture } from './report-capture.js';

/** How capture stands, as plugins report it (docs/conserver/README.md#what-the-plugin-reports). */
export function captureReportRoutes(deps: CaptureReportDeps): Route[] {
  const shared = { path: '/archivist/v1/capture_reports', access: 'token', extension: true, success: 200 } as const;
  return [
    route({
      ...shared,
      method: 'GET',
      operationId: 'CaptureReports_ListCaptureReports',
      summary: 'List the last report of each capture plugin: queue depth, dead letters and gaps',
      codes: [206, 400, 401, 403, 429],
      query: listQuerySchema([]),
      response: pageSchema('capture_reports', captureReportSchema),
      handle: async ({ principal, query, headers }) =>
        pageReply(
          'capture_reports',
          await listCaptureReports(deps, principal, { query, exactTotal: wantsExactTotal(headers) }),
        ),
    }),
    route({
      ...shared,
      method: 'POST',
      operationId: 'CaptureReports_ReportCapture',
      summary: 'Report queue depth, dead letters and gaps of an application’s capture; replaces the last report',
      codes: [400, 401, 402, 403, 413, 429],
      body: captureReportBodySchema,
      response: captureReportSchema,
      handle: async ({ principal, body }) => ({ body: await reportCapture(deps, principal, body) }),
    }),
  ];
}
