import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { DiskState } from '../platform/disk/disk-watch.js';
import type { OutsideService } from '../platform/outside-calls.js';

/** Where the parts of the service report what they did. Every metric is declared in this file. */
export interface Metrics {
  /** All metrics in the Prometheus text format, with its content type. */
  readonly registry: Registry;
  readonly requests: Histogram<'operation' | 'status'>;
  /** A create request was answered: `earlier` is one that repeated an idempotency key. */
  accepted(kind: 'asset' | 'asset_event' | 'asset_free_event' | 'earlier'): void;
  batchAccepted(size: number): void;
  /** A sign, commit, seal and publish round of one log ended. */
  roundEnded(outcome: 'done' | 'failed', durationMs: number): void;
  batchCommitted(leaves: number): void;
  /** Number of stored copies of keys and manifests that differ from the newest manifest. */
  keyFaults(count: number): void;
  /** Number of applications whose last secret expires within thirty days. */
  expiringSecrets(applications: number): void;
  /** Number of entries that wait for all logs, counted up to MAX_WAITING_ENTRIES. */
  entriesWaiting(entries: number): void;
  /** A quorum of the witnesses has cosigned all that was published until then. */
  witnessed(atMs: number): void;
  /** The certificate of the TLS listener expires then. */
  tlsCertificateExpires(atMs: number): void;
  /** Whether the clock is wrong, and how far it is ahead of the database's. */
  clockCompared(state: { readonly wrong: boolean; readonly offsetMs: number }): void;
  /** Number of webhook deliveries that were given up. */
  webhooksSetAside(deliveries: number): void;
  /** An audit of all logs has ended with so many faults. */
  audited(audit: { readonly faults: number; readonly atMs: number }): void;
  disks(states: readonly DiskState[]): void;
  /** Number of identity providers of tenancies whose last call failed. */
  identityProvidersFailing(providers: number): void;
  /** A call to a service outside this process failed. */
  outsideFailed(service: OutsideService): void;
  /** Since when calls to it fail, in Unix milliseconds; undefined: it answers. */
  outsideChanged(service: OutsideService, failingSinceMs: number | undefined): void;
  /** Whether the chain of blocks is halted. */
  chainLooked(isHalted: boolean): void;
  lagged(lag: { readonly oldestWaitingMs: number; readonly haltedLogs: number }): void;
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const BATCH_SIZES = [1, 2, 5, 10, 20, 50, 100, 200];

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: 'archivist_request_seconds',
    help: 'Time to answer a request, by operation and status',
    labelNames: ['operation', 'status'],
    buckets: SECONDS,
    registers,
  });
  const accepted = new Counter({
    name: 'archivist_accepted_total',
    help: 'Create requests whose rows are committed, by what they created; earlier: a repeated idempotency key',
    labelNames: ['kind'],
    registers,
  });
  const batches = new Histogram({
    name: 'archivist_accept_batch_size',
    help: 'Create requests that were committed in one transaction',
    buckets: BATCH_SIZES,
    registers,
  });
  const rounds = new Histogram({
    name: 'archivist_ledger_round_seconds',
    help: 'Time of a sign, commit, seal and publish round of one log',
    labelNames: ['outcome'],
    buckets: SECONDS,
    registers,
  });
  const committedLeaves = new Counter({
    name: 'archivist_committed_leaves_total',
    help: 'Leaves committed to logs by this process',
    registers,
  });
  const lag = new Gauge({
    name: 'archivist_sequencer_lag_seconds',
    help: 'Age of the oldest accepted entry that its log has not committed',
    registers,
  });
  const waiting = new Gauge({
    name: 'archivist_entries_waiting',
    help: 'Accepted entries that wait for their logs, in all processes; counted up to MAX_WAITING_ENTRIES',
    registers,
  });
  const haltedLogs = new Gauge({
    name: 'archivist_halted_logs',
    help: 'Logs that were stopped because their history is inconsistent, and wait for an operator',
    registers,
  });
  const chainHalted = new Gauge({
    name: 'archivist_chain_halted',
    help: '1 while no block is added to the chain because the database and the object store differ, until an operator acts',
    registers,
  });
  const keyFaults = new Gauge({
    name: 'archivist_key_faults',
    help: 'Rows of keys and key manifests that differ from the newest key manifest; they are not used, and somebody has changed them',
    registers,
  });
  const expiring = new Gauge({
    name: 'archivist_expiring_credentials',
    help: 'Applications whose last credential expires within thirty days, as counted once a day',
    registers,
  });
  const setAside = new Gauge({
    name: 'archivist_webhook_deliveries_set_aside',
    help: 'Webhook deliveries that were given up after three days, in all tenancies; replayed by an Owner or deleted after thirty days',
    registers,
  });
  const cosigned = new Gauge({
    name: 'archivist_cosigned_timestamp_seconds',
    help: 'When a quorum of the witnesses was last known to have cosigned all that is published; 0 without witnesses',
    registers,
  });
  const auditFaults = new Gauge({
    name: 'archivist_audit_faults',
    help: 'Faults that the last scheduled audit of the logs found',
    registers,
  });
  const auditEnded = new Gauge({
    name: 'archivist_audit_timestamp_seconds',
    help: 'When the last scheduled audit of the logs had its verdict; 0 before the first',
    registers,
  });
  const tlsExpires = new Gauge({
    name: 'archivist_tls_certificate_expires_timestamp_seconds',
    help: 'When the certificate of the TLS listener expires; 0 without one',
    registers,
  });
  const diskFull = new Gauge({
    name: 'archivist_disk_full',
    help: '1 while writes to this disk are refused because it is full: database, objects, queue, spool, data',
    labelNames: ['what'],
    registers,
  });
  const diskFree = new Gauge({
    name: 'archivist_disk_free_bytes',
    help: 'Free bytes on a disk of this machine; two that share a file system show the same',
    labelNames: ['what'],
    registers,
  });
  const clockOffset = new Gauge({
    name: 'archivist_clock_offset_seconds',
    help: "How far the clock is ahead of the database's; negative: behind it",
    registers,
  });
  const clockWrong = new Gauge({
    name: 'archivist_clock_wrong',
    help: '1 while nothing is accepted or signed because the clock is wrong',
    registers,
  });
  const outsideFailures = new Counter({
    name: 'archivist_outside_failures_total',
    help: 'Failed calls to a service outside: database, queue, object_store, key_module, witness, identity_provider, scanner, mail',
    labelNames: ['service'],
    registers,
  });
  const providersFailing = new Gauge({
    name: 'archivist_identity_providers_failing',
    help: "Identity providers of tenancies whose last call from this process failed; their tenancies' people cannot sign in",
    registers,
  });
  const outsideFailing = new Gauge({
    name: 'archivist_outside_failing_since_timestamp_seconds',
    help: 'Since when every call to a service outside has failed; 0 while it answers',
    labelNames: ['service'],
    registers,
  });
  return {
    registry,
    requests,
    witnessed: (atMs) => cosigned.set(atMs / 1000),
    tlsCertificateExpires: (atMs) => tlsExpires.set(atMs / 1000),
    audited({ faults, atMs }) {
      auditFaults.set(faults);
      auditEnded.set(atMs / 1000);
    },
    disks(states) {
      for (const { use: what, full, freeBytes } of states) {
        diskFull.set({ what }, full ? 1 : 0);
        if (freeBytes !== undefined) diskFree.set({ what }, freeBytes);
      }
    },
    clockCompared({ wrong, offsetMs }) {
      clockWrong.set(wrong ? 1 : 0);
      clockOffset.set(offsetMs / 1000);
    },
    identityProvidersFailing: (providers) => providersFailing.set(providers),
    outsideFailed: (service) => outsideFailures.inc({ service }),
    outsideChanged: (service, sinceMs) => outsideFailing.set({ service }, (sinceMs ?? 0) / 1000),
    keyFaults: (count) => keyFaults.set(count),
    accepted: (kind) => accepted.inc({ kind }),
    batchAccepted: (size) => batches.observe(size),
    roundEnded: (outcome, durationMs) => rounds.observe({ outcome }, durationMs / 1000),
    batchCommitted: (leaves) => committedLeaves.inc(leaves),
    expiringSecrets: (applications) => expiring.set(applications),
    webhooksSetAside: (deliveries) => setAside.set(deliveries),
    entriesWaiting: (entries) => waiting.set(entries),
    chainLooked: (isHalted) => chainHalted.set(isHalted ? 1 : 0),
    lagged(now) {
      lag.set(now.oldestWaitingMs / 1000);
      haltedLogs.set(now.haltedLogs);
    },
  };
}
