import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Database, SystemScope, Tx } from '../../platform/postgres/database.js';
import { KEPT_PLANS } from '../../platform/postgres/kept-plans.js';
import { type ClientAddress, findStandings, type Standing } from '../applications/standing-store.js';

interface Asker {
  readonly client: ClientAddress;
  resolve(standing: Standing): void;
  reject(error: unknown): void;
}

/** Maximum number of askers of one query. */
const MAX_BATCH = 500;

/** Every request with a token runs this query, and to plan it took ten times as long. */
const STANDINGS: SystemScope = { system: 'reading', settings: KEPT_PLANS };

/**
 * Returns what a client may do now; the database is read after the call. A role that was removed or a token that was
 * revoked by another process therefore takes effect with the next request. Calls of one turn of the event loop share
 * a query, and so do calls that arrive while it waits for a connection.
 */
export function createCallerStanding(database: Database): (client: ClientAddress) => Promise<Standing> {
  let waiting: Asker[] = [];
  let running = false;

  function nextAskers(): Asker[] {
    const askers = waiting.slice(0, MAX_BATCH);
    waiting = waiting.slice(MAX_BATCH);
    return askers;
  }

  async function answer(): Promise<void> {
    let askers: readonly Asker[] | undefined;
    try {
      const [asked, standings] = await database.readAtOnce(STANDINGS, async (tx) => {
        // A repeated transaction asks for the same ones.
        const batch = askers ?? nextAskers();
        askers = batch;
        return [batch, await findDistinct(tx, batch)] as const;
      });
      for (const { client, resolve } of asked) resolve(standings.get(keyOf(client))!);
    } catch (error) {
      for (const asker of askers ?? nextAskers()) asker.reject(error);
    }
  }

  async function run(): Promise<void> {
    running = true;
    while (waiting.length > 0) {
      // Requests that have arrived are read first. On the embedded engine, none is read while a query runs.
      await nextTurn();
      await answer();
    }
    running = false;
  }

  return (client) =>
    new Promise((resolve, reject) => {
      waiting.push({ client, resolve, reject });
      if (!running) void run();
    });
}

const keyOf = ({ tenantId, clientId }: ClientAddress): string => `${tenantId}/${clientId}`;

/** The standing of each client that asks, read once however many requests it has sent. */
async function findDistinct(tx: Tx, askers: readonly Asker[]): Promise<ReadonlyMap<string, Standing>> {
  const clients = new Map(askers.map(({ client }) => [keyOf(client), client]));
  const standings = await findStandings(tx, [...clients.values()]);
  return new Map([...clients.keys()].map((key, place) => [key, standings[place]!]));
}
