import type { KeyOperatorDeps } from '../archivist/operator/manage-keys.js';
import type { Ledger } from '../ledger/round.js';
import type { Database } from '../platform/postgres/database.js';
import type { QueueBackend } from '../platform/queue/queue-backend.js';

/** Whether the service can take requests now, and the state of its parts. */
export interface ServiceHealth {
  readonly ready: boolean;
  readonly checks: Readonly<Record<string, string>>;
}

const PROBE_MS = 2_000;

/** Checks the parts that a request needs. The sequencers' lag is reported, but never makes the service unready. */
export async function serviceHealth(parts: {
  database: Database;
  queues: QueueBackend;
  ledger: Ledger;
  keys: Pick<KeyOperatorDeps, 'manifests' | 'faults'>;
}): Promise<ServiceHealth> {
  const [database, queue, sequencers] = await Promise.all([
    probe(() => parts.database.ping()),
    probe(() => parts.queues.ping()),
    within(parts.ledger.lag()).then(
      (lag) => `oldest entry waits ${lag.oldestWaitingMs} ms, ${lag.haltedLogs} logs halted`,
      () => 'unknown',
    ),
  ]);
  return {
    ready: database === 'ok' && queue === 'ok',
    checks: {
      database: `${parts.database.engine}: ${database}`,
      queue: `${parts.queues.engine}: ${queue}`,
      sequencers,
      keys: keyState(parts.keys),
    },
  };
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
