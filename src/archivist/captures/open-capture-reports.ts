import type { Feature } from '../../platform/feature.js';
import { captureReportRoutes } from './capture-report-routes.js';
import type { CaptureReportDeps } from './report-capture.js';

export function openCaptureReports(base: CaptureReportDeps): Feature {
  return { routes: { 'v1/capture_reports': captureReportRoutes(base) } };
}
