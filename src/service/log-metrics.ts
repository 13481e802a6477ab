import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { DURATION_BUCKETS } from './duration-buckets.js';

/** How accepted entries reach their logs. */
export interface LogMetrics {
  /** A sign, commit, seal and publish round of one log ended. */
  roundEnded(outcome: 'done' | 'failed', durationMs: number): void;
  batchCommitted(leaves: number): void;
  /** Number of entries that wait for all logs, at most MAX_WAITING_ENTRIES. */
  entriesWaiting(entries: number): void;
  lagged(lag: { readonly oldestWaitingMs: number; readonly haltedLogs: number }): void;
}

/** Declares the metrics in this registry. */
export function createLogMetrics(registry: Registry): LogMetrics {
  const registers = [registry];
  const rounds = new Histogram({
    name: 'archivist_ledger_round_seconds',
    help: 'Time of a sign, commit, seal and publish round of one log',
    labelNames: ['outcome'],
    buckets: DURATION_BUCKETS,
    registers,
  });
  const committedLeaves = new Counter({
    name: 'archivist_committed_leaves_total',
    help: 'Leaves committed to logs by this process',
    registers,
  });
  const lag = new Gauge({
    name: 'archivist_sequencer_lag_seconds',
    help: 'Age of the oldest accepted entry that its log has not committed; only of processes with sequencers',
    registers,
  });
  // Without a value until it is set: that no process reports one says that no sequencer runs, 0 would say that all is well.
  lag.remove();
  const waiting = new Gauge({
    name: 'archivist_entries_waiting',
    help: 'Accepted entries that wait for their logs, in all processes; at most MAX_WAITING_ENTRIES, and estimated above 100,000',
    registers,
  });
  const haltedLogs = new Gauge({
    name: 'archivist_halted_logs',
    help: 'Logs that were stopped because their history is inconsistent, and wait for an operator',
    registers,
  });
  return {
    roundEnded: (outcome, durationMs) => rounds.observe({ outcome }, durationMs / 1000),
    batchCommitted: (leaves) => committedLeaves.inc(leaves),
    entriesWaiting: (entries) => waiting.set(entries),
    lagged(now) {
      lag.set(now.oldestWaitingMs / 1000);
      haltedLogs.set(now.haltedLogs);
    },
  };
}
