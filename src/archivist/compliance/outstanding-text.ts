import { type ComplianceEvent, quoted } from './compliance-check.js';

/** Describes the events that wait for their closing event: their number, and the oldest by its correlation value. */
export function outstandingText(outstanding: readonly ComplianceEvent[]): string {
  const oldest = outstanding[0]!;
  const named =
    oldest.correlationValue === undefined
      ? 'without a correlation value'
      : `with the correlation value ${quoted(oldest.correlationValue)}`;
  return outstanding.length === 1 ? `one event, ${named}` : `${outstanding.length} events, the oldest ${named}`;
}
