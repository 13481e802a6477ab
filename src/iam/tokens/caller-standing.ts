import type { Database } from '../../platform/postgres/database.js';
import { type ClientAddress, findStandings, type Standing } from './standing-store.js';

interface Asker {
  readonly client: ClientAddress;
  resolve(standing: Standing): void;
  reject(error: unknown): void;
}

/** Maximum number of clients in one query. */
const MAX_BATCH = 500;

/**
 * Returns what a client may do now; the database is read after the call. A role that was removed or a token that was
 * revoked by another process therefore takes effect with the next request. Calls that arrive while a query runs share
 * the next one.
 */
export function createCallerStanding(database: Database): (client: ClientAddress) => Promise<Standing> {
  let waiting: Asker[] = [];
  let running = false;

  async function answer(askers: readonly Asker[]): Promise<void> {
    try {
      const clients = askers.map(({ client }) => client);
      const standings = await database.inTransaction('system', (tx) => findStandings(tx, clients));
      askers.forEach((asker, place) => {
        asker.resolve(standings[place]!);
      });
    } catch (error) {
      for (const asker of askers) asker.reject(error);
    }
  }

  async function run(): Promise<void> {
    running = true;
    while (waiting.length > 0) {
      const askers = waiting.slice(0, MAX_BATCH);
      waiting = waiting.slice(MAX_BATCH);
      await answer(askers);
    }
    running = false;
  }

  return (client) =>
    new Promise((resolve, reject) => {
      waiting.push({ client, resolve, reject });
      if (!running) void run();
    });
}
