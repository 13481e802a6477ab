import type { Deployment } from '../archivist/deployment.js';
import type { KeyOperatorDeps } from '../archivist/operator/manage-keys.js';
import type { HaltedLogs } from '../ledger/halted/watch-halted-logs.js';
import type { Ledger } from '../ledger/round.js';
import type { DiskWatch } from '../platform/disk/disk-watch.js';
import type { Database } from '../platform/postgres/database.js';
import type { QueueBackend } from '../platform/queue/queue-backend.js';
import { type HaltedLogHealth, type LogHealth, logHealth } from './log-health.js';

/** Whether the service can take requests now, and the state of its parts. */
export interface ServiceHealth {
  readonly ready: boolean;
  readonly checks: Readonly<Record<string, string>>;
  /** Logs that the operator must restore or resume, at most the first hundred. */
  readonly halted_logs: readonly HaltedLogHealth[];
}

const PROBE_MS = 2_000;
const SHOWN_LOGS = 100;

/** Checks the parts that a request needs. The sequencers' lag is reported, but never makes the service unready. */
export async function serviceHealth(parts: {
  database: Database;
  queues: QueueBackend;
  disk: DiskWatch;
  ledger: Ledger;
  halted: HaltedLogs;
  deployment: Deployment;
  keys: Pick<KeyOperatorDeps, 'manifests' | 'faults'>;
}): Promise<ServiceHealth> {
  const [database, queue, logs, sequencers] = await Promise.all([
    probe(() => parts.database.ping()),
    probe(() => parts.queues.ping()),
    within(logHealth(parts)).catch(() => undefined),
    within(parts.ledger.lag()).then(
      (lag) => `oldest entry waits ${lag.oldestWaitingMs} ms, ${lag.haltedLogs} logs halted`,
      () => 'unknown',
    ),
  ]);
  return {
    ready: database === 'ok' && queue === 'ok' && logs?.accepting === true && !stopping(parts.disk),
    checks: {
      database: `${parts.database.engine}: ${database}`,
      queue: `${parts.queues.engine}: ${queue}`,
      disk: diskState(parts.disk),
      sequencers,
      logs: logState(logs),
      keys: keyState(parts.keys),
    },
    halted_logs: logs?.halted.slice(0, SHOWN_LOGS) ?? [],
  };
}

/** A full spool stops captures only, and only if `PLUGIN_FAIL` is `open`. */
function stopping(disk: DiskWatch): boolean {
  return disk.isFull('database') || disk.isFull('objects') || disk.isFull('queue');
}

function diskState(disk: DiskWatch): string {
  const full = disk.states().filter((state) => state.full);
  if (full.length === 0) return 'ok';
  return `FULL: ${full.map(({ use }) => use).join(', ')}; writes are refused until there is room`;
}

function logState(logs: LogHealth | undefined): string {
  if (!logs) return 'unknown';
  const count = logs.halted.length;
  if (count === 0) return 'ok';
  return `${count} HALTED: see "vcon-archivist logs"${logs.accepting ? '' : '; nothing can be accepted'}`;
}

/** Faults are reported but never make the service unready: otherwise anybody who can write rows could stop it. */
function keyState({ manifests, faults }: Pick<KeyOperatorDeps, 'manifests' | 'faults'>): string {
  const { number, issuedAtMs } = manifests.current.manifest;
  const count = faults().length;
  const state = count === 0 ? 'ok' : `${count} FAULTS: see "keys list"`;
  return `manifest ${number} of ${new Date(issuedAtMs).toISOString()}: ${state}`;
}

async function probe(ask: () => Promise<unknown>): Promise<string> {
  try {
    await within(ask());
    return 'ok';
  } catch {
    return 'not reachable';
  }
}

async function within<Value>(answer: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer in time')), PROBE_MS);
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}
