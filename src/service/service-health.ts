import type { ChainWatch } from '../archivist/chain/watch-chain.js';
import type { Deployment } from '../archivist/deployment.js';
import type { KeyOperatorDeps } from '../archivist/operator/manage-keys.js';
import type { Backlog } from '../ledger/backlog.js';
import type { HaltedLogs } from '../ledger/halted/watch-halted-logs.js';
import type { Ledger } from '../ledger/round.js';
import type { ClockWatch } from '../platform/clock-watch.js';
import { refusedWhileFull } from '../platform/disk/disk-full.js';
import type { DiskWatch } from '../platform/disk/disk-watch.js';
import type { OutsideCalls, OutsideState } from '../platform/outside-calls.js';
import type { Database } from '../platform/postgres/database.js';
import { DatabaseReadOnly } from '../platform/postgres/transient-errors.js';
import { publicReason } from '../platform/public-reason.js';
import type { QueueBackend } from '../platform/queue/queue-backend.js';
import { within } from '../platform/time-limit.js';
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

/**
 * Checks the parts that a request needs. The sequencers' lag and a queue in Redis are reported, but never make the service
 * unready, and neither does what a busy database does not tell in time.
 */
export async function serviceHealth(parts: {
  database: Database;
  backend: Pick<QueueBackend, 'engine'>;
  disk: DiskWatch;
  ledger: Ledger;
  halted: HaltedLogs;
  chain: ChainWatch;
  backlog: Backlog;
  deployment: Deployment;
  keys: Pick<KeyOperatorDeps, 'manifests' | 'faults'>;
  outside: OutsideCalls;
  clockWatch: ClockWatch;
}): Promise<ServiceHealth> {
  const [database, logs, sequencers] = await Promise.all([
    probe(() => parts.database.ping()),
    inTime(logHealth(parts)).catch(() => undefined),
    inTime(parts.ledger.lag()).then(
      (lag) => `oldest entry waits ${lag.oldestWaitingMs} ms, halted logs: ${lag.haltedLogs}`,
      () => 'unknown',
    ),
  ]);
  const clock = parts.clockWatch.fault();
  return {
    ready: clock === undefined && database === 'ok' && logs?.accepting !== false && !stopping(parts.disk),
    checks: {
      database: `${parts.database.engine}: ${database}`,
      queue: `${parts.backend.engine}: ${queueState(parts, database)}`,
      clock: clock === undefined ? 'ok' : `WRONG: ${clock}; nothing is accepted or signed`,
      disk: diskState(parts.disk),
      sequencers,
      logs: logState(logs),
      backlog: backlogState(parts.backlog),
      chain: chainState(parts.chain),
      keys: keyState(parts.keys),
      ...Object.fromEntries(parts.outside.states().filter(hasOwnLine).map(outsideLine)),
    },
    halted_logs: logs?.halted.slice(0, SHOWN_LOGS) ?? [],
  };
}

/**
 * Rows hold the truth, and the queue only wakes what works on them: without Redis, requests are answered and receipts
 * follow. It is the same for all processes, so that to be unready would take all of them out of a load balancer.
 */
function queueState(
  { backend, outside }: { backend: Pick<QueueBackend, 'engine'>; outside: OutsideCalls },
  database: string,
) {
  if (backend.engine !== 'Redis') return database;
  const known = outside.states().find(({ service }) => service === 'queue');
  if (known?.failingSinceMs === undefined) return 'ok';
  return `${failing(known.failingSinceMs, known.reason)}; captures, webhooks, witnesses and scheduled jobs wait`;
}

/** A full queue or spool stops captures only. */
function stopping(disk: DiskWatch): boolean {
  return disk.isFull('database') || disk.isFull('objects');
}

function diskState(disk: DiskWatch): string {
  const full = disk.states().filter((state) => state.full);
  if (full.length === 0) return 'ok';
  const refused = full.map(({ use }) => refusedWhileFull(use));
  return `FULL: ${full.map(({ use }) => use).join(', ')}; ${refused.includes('writes') ? 'writes' : refused[0]} are refused until there is room`;
}

function logState(logs: LogHealth | undefined): string {
  if (!logs) return 'unknown';
  const count = logs.halted.length;
  if (count === 0) return 'ok';
  return `${count} HALTED: see "vcon-archivist logs"${logs.accepting ? '' : '; nothing can be accepted'}`;
}

/** The same for all processes: to take them all out of a load balancer would end the reads as well. */
function backlogState(backlog: Backlog): string {
  return backlog.isFull() ? 'FULL: too many entries wait for their logs; writes are refused until fewer do' : 'ok';
}

/** No receipt depends on the chain, so that it never makes the service unready. */
function chainState(chain: ChainWatch): string {
  const halted = chain.halted();
  return halted === undefined ? 'ok' : `HALTED: ${halted}; see "vcon-archivist logs"`;
}

/** Faults are reported but never make the service unready: otherwise anybody who can write rows could stop it. */
function keyState({ manifests, faults }: Pick<KeyOperatorDeps, 'manifests' | 'faults'>): string {
  const { number, issuedAtMs } = manifests.current.manifest;
  const count = faults().length;
  const state = count === 0 ? 'ok' : `${count} FAULTS: see "keys list"`;
  return `manifest ${number} of ${new Date(issuedAtMs).toISOString()}: ${state}`;
}

/** The database was asked just now, and the queue says what waits for it. */
const hasOwnLine = ({ service }: OutsideState): boolean => service !== 'database' && service !== 'queue';

/** These never make the service unready: what they do is repeated until it succeeds, or refused by itself. */
function outsideLine({ service, failingSinceMs, reason }: OutsideState): [string, string] {
  return [service, failingSinceMs === undefined ? 'ok' : failing(failingSinceMs, reason)];
}

const withReason = (what: string, reason: string | undefined) => (reason === undefined ? what : `${what}: ${reason}`);

const failing = (sinceMs: number, reason: string | undefined): string =>
  withReason(`fails since ${new Date(sinceMs).toISOString()}`, reason);

async function probe(ask: () => Promise<unknown>): Promise<string> {
  try {
    await inTime(ask());
    return 'ok';
  } catch (error) {
    return error instanceof DatabaseReadOnly ? 'only reads' : withReason('not reachable', publicReason(error));
  }
}

const inTime = <Value>(answer: Promise<Value>): Promise<Value> => within(PROBE_MS, answer, 'no answer in time');
