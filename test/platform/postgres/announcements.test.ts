import pg from 'pg';
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import type { Announcements } from '../../../src/platform/postgres/announcements.js';
import { notifiedAnnouncements } from '../../../src/platform/postgres/notified-announcements.js';
import { engines } from '../../support/engines.js';
import { serverUrl } from '../../support/prerequisites.js';

const opened: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

describe.skipIf(!serverUrl)('announcements of two processes on one database', () => {
  it('reach both, once each, and nobody who listens to another channel', async () => {
    const { first, second } = await two();
    const heard: string[] = [];
    first.hear('seals', (text) => heard.push(`first ${text}`));
    second.hear('seals', (text) => heard.push(`second ${text}`));
    second.hear('keys', (text) => heard.push(`keys ${text}`));
    first.announce('seals', 'a');
    await until(() => heard.length === 2);
    second.announce('seals', 'b');
    await until(() => heard.length === 4);
    expect(heard).toEqual(['first a', 'second a', 'second b', 'first b']);
  });

  it('wake no other session of the database while there is one process only', async () => {
    const database = await engines()[1]!.open();
    opened.push(database);
    const url = database.environment['DATABASE_URL']!;
    const session = new pg.Client({ connectionString: url });
    await session.connect();
    opened.push({ close: () => session.end() });
    await session.query('LISTEN archivist');
    const woken: (string | undefined)[] = [];
    session.on('notification', ({ payload }) => woken.push(payload));
    const first = await connected(url);
    first.announce('seals', 'alone');
    await new Promise((wake) => setTimeout(wake, 200));
    await connected(url);
    first.announce('seals', 'together');
    await until(() => woken.length > 0);
    expect(woken).toEqual(['seals together']);
  });

  it('go on after the connections were cut, and say that some may be missing', async () => {
    const { first, second, cut } = await two();
    const heard: (string | undefined)[] = [];
    second.hear('seals', (text) => heard.push(text));
    await cut();
    await until(() => heard.includes(undefined));
    await until(() => {
      first.announce('seals', 'again');
      return heard.includes('again');
    });
  });
});

async function two(): Promise<{ first: Announcements; second: Announcements; cut(): Promise<unknown> }> {
  const database = await engines()[1]!.open();
  opened.push(database);
  const url = database.environment['DATABASE_URL']!;
  const cut = async () => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const killed = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND query LIKE 'LISTEN%'`;
    await client.query(killed).finally(() => client.end());
  };
  return { first: await connected(url), second: await connected(url), cut };
}

async function connected(url: string): Promise<Announcements> {
  const each = notifiedAnnouncements(url, pino({ level: 'silent' }));
  opened.push(each);
  await new Promise<void>((listens) => void each.hear('any', () => listens()));
  return each;
}

async function until(done: () => boolean): Promise<void> {
  for (const end = Date.now() + 10_000; !done(); await new Promise((wake) => setTimeout(wake, 20)))
    if (Date.now() > end) throw new Error('it did not happen in time');
}
