import { atIntervals } from '../platform/at-intervals.js';
import type { ObjectStore } from '../platform/object-store.js';
import type { OutsideCalls } from '../platform/outside-calls.js';
import type { Database } from '../platform/postgres/database.js';
import type { QueueBackend } from '../platform/queue/queue-backend.js';
import { within } from '../platform/time-limit.js';

const LOOK_MS = 5_000;
const ANSWER_WITHIN_MS = 2_000;

/**
 * Asks every few seconds whether the database, the queue and the object store answer, so that an outage is known before
 * a request needs them. The other services are known from the calls to them.
 */
export function watchOutside(parts: {
  readonly database: Database;
  readonly backend: QueueBackend;
  readonly objectStore: ObjectStore;
  readonly outside: OutsideCalls;
}): { close(): Promise<void> } {
  const { database, backend, objectStore, outside } = parts;

  async function look(): Promise<void> {
    const ask = (work: Promise<unknown>) => within(ANSWER_WITHIN_MS, work, 'no answer in time');
    const asked = [objectStore.ping()];
    const recorded: Promise<unknown>[] = [outside.record('database', ask(database.ping()))];
    if (backend.engine === 'Redis') recorded.push(outside.record('queue', ask(backend.ping())));
    await Promise.allSettled([...asked, ...recorded]);
  }

  return atIntervals(LOOK_MS, look);
}
