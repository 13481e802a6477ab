import type pg from 'pg';
import type { Logger } from '../logger.js';
import { ServerClient } from './server-client.js';
import { serverStream } from './server-stream.js';
import { enterServiceRole, SEARCH_PATH } from './service-role.js';

const RECONNECT_MS = 1_000;
const CONNECT_TIMEOUT_MS = 10_000;
/** A connection that only listens notices no silence: it asks for an answer this often, and must get it within this. */
const HEARTBEAT_MS = 10_000;

/** A connection that listens to a channel, opened in the background and again after a failure. */
interface ListeningConnection {
  /** Runs a statement on the connection, and does nothing while there is no connection. Never fails. */
  query(statement: pg.QueryConfig): Promise<void>;
  close(): Promise<void>;
}

interface Listening {
  readonly url: string;
  readonly logger: Logger;
  readonly channel: string;
  /** Held, shared, for as long as the connection listens. */
  readonly lock: number;
  /** Called when it begins to listen, after a failure as well: what was sent before was not heard. */
  readonly begun: () => void;
  /** Called with each message of another session. */
  readonly heard: (payload: string) => void;
}

/** Begins to listen. */
export function openListening(parts: Listening): ListeningConnection {
  const { url, logger, channel, lock, begun, heard } = parts;
  let client: pg.Client | undefined;
  let again: NodeJS.Timeout | undefined;
  let closed = false;

  function lost(failed: pg.Client, error?: unknown): void {
    if (failed !== client) return;
    client = undefined;
    failed.end().catch(() => undefined);
    if (closed) return;
    logger.debug({ err: error }, 'database notifications are not received until the connection is back');
    again = setTimeout(connect, RECONNECT_MS);
    again.unref();
  }

  function connect(): void {
    const fresh = newClient(url);
    client = fresh;
    fresh.on('error', (error) => lost(fresh, error));
    fresh.on('end', () => lost(fresh));
    fresh.on('notification', ({ payload = '', processId }) => {
      if (processId !== (fresh as unknown as { processID: number }).processID) heard(payload);
    });
    fresh
      .connect()
      .then(() => enterServiceRole(fresh, SEARCH_PATH))
      .then(() => fresh.query(`SELECT pg_advisory_lock_shared(${lock})`))
      .then(() => fresh.query(`LISTEN ${channel}`))
      .then(begun)
      .catch((error: unknown) => lost(fresh, error));
  }

  async function query(statement: pg.QueryConfig): Promise<void> {
    const current = client;
    await current?.query(statement).catch((error: unknown) => lost(current, error));
  }

  const heartbeat = setInterval(() => void query({ text: 'SELECT 1' }), HEARTBEAT_MS).unref();

  connect();
  return {
    query,
    async close() {
      closed = true;
      clearTimeout(again);
      clearInterval(heartbeat);
      await client?.end().catch(() => undefined);
    },
  };
}

function newClient(url: string): pg.Client {
  return new ServerClient({
    connectionString: url,
    stream: serverStream,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: HEARTBEAT_MS,
    keepAlive: true,
    pipeline: true,
  });
}
