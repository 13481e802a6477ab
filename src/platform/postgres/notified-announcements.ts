import type { Logger } from '../logger.js';
import { type Announcements, localAnnouncements } from './announcements.js';
import { openListening } from './listening-connection.js';

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

/**
 * Announcements by NOTIFY and LISTEN, over one connection of their own that is opened in the background and again after
 * a failure. A NOTIFY is a statement of its own: inside a transaction it would make commits wait for each other.
 */
export function notifiedAnnouncements(url: string, logger: Logger): Announcements {
  const local = localAnnouncements();
  /** What was announced while a NOTIFY was under way: sent together, each once. */
  const waiting = new Set<string>();
  let sending = false;
  const connection = openListening({
    url,
    logger,
    channel: CHANNEL,
    lock: LISTENERS_LOCK,
    begun: () => local.tell(undefined, undefined),
    // Our own were told when they were announced.
    heard(payload) {
      const [channel, text] = payload.split(' ', 2);
      local.tell(channel, text);
    },
  });

  /** What a lost connection leaves is not sent again: who listens looks anyway after a while. */
  async function send(): Promise<void> {
    sending = true;
    // Those who heard it here answer first, and what is announced meanwhile goes along.
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.size > 0) {
      const texts = [...waiting];
      waiting.clear();
      await connection.query({ name: 'announce', text: ANNOUNCE, values: [CHANNEL, texts] });
    }
    sending = false;
  }

  return {
    hear: local.hear,
    announce(channel, text, detail) {
      local.announce(channel, text, detail);
      waiting.add(`${channel} ${text}`);
      if (!sending) void send();
    },
    close: connection.close,
  };
}
