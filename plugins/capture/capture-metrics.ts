import { Counter, type Registry } from 'prom-client';

/** Operations beyond this many names are counted as `other`, so that callers cannot exhaust memory. */
const MOST_NAMES = 100;

/** Counts of operations by name. */
export interface OperationMetrics {
  /** The receiver got a report. */
  reported(outcome: 'captured' | 'refused'): void;
  captured(operation: string): void;
  doubled(operation: string): void;
  delivered(operation: string): void;
  retried(operation: string): void;
  dead(operation: string): void;
  receiptHome(operation: string): void;
  /** A vCon ended, but its hash is unknown. */
  unknownEnding(): void;
  /** A vCon left Redis while no wheel was checking the storages. */
  unlookedEnding(): void;
  /** vCons whose capture and egress disagree were put into a gap record. */
  gaps(vcons: number): void;
  /** An entry of the stream was not a valid record. */
  streamRefused(): void;
}

/** The counters, in the plugin's registry. */
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
    help: 'Operations that a conserver reported, by outcome',
    labelNames: ['outcome'],
    registers,
  });
  const unknown = new Counter({
    name: 'conserver_link_unknown_endings_total',
    help: 'vCons that expired or were deleted without an event, because their hash is unknown',
    registers,
  });
  const unlooked = new Counter({
    name: 'conserver_link_unlooked_endings_total',
    help: 'vCons that left Redis while no wheel was checking the storages, or whose check could not be requested',
    registers,
  });
  const gaps = new Counter({
    name: 'conserver_link_gaps_total',
    help: 'vCons in gap records: left without an event, or captured and never left',
    registers,
  });
  const refused = new Counter({
    name: 'conserver_link_stream_refused_total',
    help: 'Invalid entries of the stream, set aside',
    registers,
  });
  return {
    reported: (outcome) => reports.inc({ outcome }),
    captured: byOperation('conserver_link_captured_total', 'Operations put on the queue, including repetitions'),
    doubled: byOperation('conserver_link_doubled_total', 'Operations that a second method also captured'),
    delivered: byOperation('conserver_link_delivered_total', 'Events that the service has accepted'),
    retried: byOperation('conserver_link_retried_total', 'Deliveries that failed and will be retried'),
    dead: byOperation('conserver_link_dead_total', 'Events that the service has refused permanently'),
    receiptHome: byOperation('conserver_link_receipts_total', 'Receipts that were fetched, verified and stored'),
    unknownEnding: () => unknown.inc(),
    unlookedEnding: () => unlooked.inc(),
    gaps: (vcons) => gaps.inc(vcons),
    streamRefused: () => refused.inc(),
  };
}
