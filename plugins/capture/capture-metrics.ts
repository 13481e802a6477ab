import { Counter, type Registry } from 'prom-client';

/** Beyond so many names the operation is counted as `other`: whoever reports must not fill the memory. */
const MOST_NAMES = 100;

/** What became of operations, by name. */
export interface OperationMetrics {
  /** A report came to the receiver. */
  reported(outcome: 'captured' | 'refused'): void;
  captured(operation: string): void;
  doubled(operation: string): void;
  delivered(operation: string): void;
  retried(operation: string): void;
  dead(operation: string): void;
  receiptHome(operation: string): void;
  /** A vCon has ended of which no hash is known. */
  unknownEnding(): void;
  /** A vCon went from Redis while no wheel asked the storages. */
  unlookedEnding(): void;
  /** vCons of which capture and egress do not agree went into a gap record. */
  gaps(vcons: number): void;
  /** An entry of the stream was no record. */
  streamRefused(): void;
}

/** Counts, in the plugin's registry. */
export function createOperationMetrics(registry: Registry): OperationMetrics {
  const registers = [registry];
  const names = new Set<string>();

  function label(operation: string): { operation: string } {
    if (names.size < MOST_NAMES) names.add(operation);
    return { operation: names.has(operation) ? operation : 'other' };
  }

  function byOperation(name: string, help: string): (operation: string) => void {
    const counter = new Counter({ name, help, labelNames: ['operation'], registers });
    return (operation) => counter.inc(label(operation));
  }

  const reports = new Counter({
    name: 'conserver_link_operations_total',
    help: 'Operations that a conserver reported, by what became of them',
    labelNames: ['outcome'],
    registers,
  });
  const unknown = new Counter({
    name: 'conserver_link_unknown_endings_total',
    help: 'vCons that expired or were deleted, of which no hash is known: no event',
    registers,
  });
  const unlooked = new Counter({
    name: 'conserver_link_unlooked_endings_total',
    help: 'vCons that went from Redis while no wheel asked the storages: not recorded before one does',
    registers,
  });
  const gaps = new Counter({
    name: 'conserver_link_gaps_total',
    help: 'vCons that left without an event, or were captured and never left, as gap records tell',
    registers,
  });
  const refused = new Counter({
    name: 'conserver_link_stream_refused_total',
    help: 'Entries of the stream that were no records, kept aside',
    registers,
  });
  return {
    reported: (outcome) => reports.inc({ outcome }),
    captured: byOperation('conserver_link_captured_total', 'Operations put on the queue, repetitions included'),
    doubled: byOperation('conserver_link_doubled_total', 'Operations that a second method captured too'),
    delivered: byOperation('conserver_link_delivered_total', 'Events that the service has taken'),
    retried: byOperation('conserver_link_retried_total', 'Deliveries that failed and will be tried again'),
    dead: byOperation('conserver_link_dead_total', 'Events that the service has refused for good'),
    receiptHome: byOperation('conserver_link_receipts_total', 'Receipts that were fetched, checked and kept'),
    unknownEnding: () => unknown.inc(),
    unlookedEnding: () => unlooked.inc(),
    gaps: (vcons) => gaps.inc(vcons),
    streamRefused: () => refused.inc(),
  };
}
