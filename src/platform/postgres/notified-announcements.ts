import pg from 'pg';
import type { Logger } from '../logger.js';
import { type Announcements, localAnnouncements } from './announcements.js';
import { serverStream } from './server-stream.js';
import { enterServiceRole, SEARCH_PATH } from './service-role.js';

/** All channels share one of the database's, so that a connection listens before anybody asks for a channel. */
const CHANNEL = 'archivist';
/** Each process that listens holds it, shared, so that a session can take it alone only if nobody else listens. */
const LISTENERS_LOCK = 7_364_925;
/**
 * A NOTIFY wakes each session of the database that listens to anything, those of the queue's workers too: a process that
 * is the only one sends none. Who begins to listen meanwhile is told that messages may have been missed.
 */
const ANNOUNCE = `SELECT pg_notify($1, t) FROM unnest($2::text[]) AS n(t)
  WHERE NOT (SELECT pg_try_advisory_xact_lock(${LISTENERS_LOCK}))`;
const RECONNECT_MS = 1_000;
const CONNECT_TIMEOUT_MS = 10_000;
/** A connection that only listens notices no silence: it asks for an answer this often, and must get it within this. */
const HEARTBEAT_MS = 10_000;

/**
 * Announcements by NOTIFY and LISTEN, over one connection of their own that is opened in the background and again after
 * a failure. A NOTIFY is a statement of its own: inside a transaction it would make commits wait for each other.
 */
export function notifiedAnnouncements(url: string, logger: Logger): Announcements {
  const local = localAnnouncements();
  let client: pg.Client | undefined;
  /** What was announced while a NOTIFY was under way: sent together, each once. */
  const waiting = new Set<string>();
  let sending = false;
  let again: NodeJS.Timeout | undefined;
  let closed = false;

  function lost(failed: pg.Client, error?: unknown): void {
    if (failed !== client) return;
    client = undefined;
    failed.end().catch(() => undefined);
    if (closed) return;
    logger.debug({ err: error }, 'announcements are not heard for now');
    again = setTimeout(connect, RECONNECT_MS);
    again.unref();
  }

  function connect(): void {
    const fresh = new pg.Client({
      connectionString: url,
      stream: serverStream,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: HEARTBEAT_MS,
      keepAlive: true,
      pipeline: true,
    });
    client = fresh;
    fresh.on('error', (error) => lost(fresh, error));
    fresh.on('end', () => lost(fresh));
    fresh.on('notification', ({ payload = '', processId }) => {
      // Our own were told when they were announced.
      if (processId === (fresh as unknown as { processID: number }).processID) return;
      const [channel, text] = payload.split(' ', 2);
      local.tell(channel, text);
    });
    fresh
      .connect()
      .then(() => enterServiceRole(fresh, SEARCH_PATH))
      .then(() => fresh.query(`SELECT pg_advisory_lock_shared(${LISTENERS_LOCK})`))
      .then(() => fresh.query(`LISTEN ${CHANNEL}`))
      .then(() => local.tell(undefined, undefined))
      .catch((error: unknown) => lost(fresh, error));
  }

  /** What a lost connection leaves is not sent again: who listens looks anyway after a while. */
  async function send(): Promise<void> {
    sending = true;
    // Those who heard it here answer first, and what is announced meanwhile goes along.
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.size > 0) {
      const current = client;
      const texts = [...waiting];
      waiting.clear();
      await current
        ?.query({ name: 'announce', text: ANNOUNCE, values: [CHANNEL, texts] })
        .catch((error: unknown) => lost(current, error));
    }
    sending = false;
  }

  const heartbeat = setInterval(() => {
    const current = client;
    current?.query('SELECT 1').catch((error: unknown) => lost(current, error));
  }, HEARTBEAT_MS).unref();

  connect();
  return {
    hear: local.hear,
    announce(channel, text, detail) {
      local.announce(channel, text, detail);
      waiting.add(`${channel} ${text}`);
      if (!sending) void send();
    },
    async close() {
      closed = true;
      clearTimeout(again);
      clearInterval(heartbeat);
      await client?.end().catch(() => undefined);
    },
  };
}
