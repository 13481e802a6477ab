/** A dead letter: which operation on which bytes the service refused. Its reason stays here (`queue list`). */
export interface ReportedLetter {
  readonly job: string;
  readonly operation: string;
  readonly subject?: string;
  readonly payload?: string;
  readonly failed_at: string;
}

export interface ReportedDay {
  readonly day: string;
  readonly vcons: number;
  readonly payloads: readonly string[];
}

/** Body of `POST /archivist/v1/capture_reports` (docs/conserver/README.md#what-the-plugin-reports). */
export interface CaptureReport {
  readonly source: string;
  readonly observed_at: string;
  readonly depth: number;
  readonly oldest_seconds: number;
  readonly dead_letters: number;
  readonly exact: boolean;
  readonly letters: readonly ReportedLetter[];
  readonly gaps: readonly ReportedDay[];
}
