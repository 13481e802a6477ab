import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { faketimeLibrary, redisUrl, serverUrl } from '../support/prerequisites.js';
import { createDeployment, type Deployment, type RunningProcess, requestToken } from './deployment.js';
import { Follower } from './follower.js';
import { Journal, request, until } from './journal.js';

const MINUTE_MS = 60_000;
const WEEK_MS = 7 * 24 * 60 * MINUTE_MS;
/** Longer than a worker of the queue waits before it asks for a job. */
const ALONE_MS = 6_000;
const HEALED_WITHIN_MS = 30_000;
/** Each as libfaketime reads it. */
const OFFSETS = [
  ['+3600', 'forward by 3600 s'],
  ['-3600', 'back by 3600 s'],
  ['+15y', 'ids end before that'],
] as const;
const ASSETS = '/archivist/v2/assets';
/** A job that is done once a week, and in none of the hours of this test. */
const WEEKLY = { AUDIT_SCHEDULE: `17 3 * * ${(new Date().getUTCDay() + 3) % 7}` };

describe.skipIf(!serverUrl || !redisUrl || !faketimeLibrary)(
  'of two nodes on one database, one has a wrong clock',
  () => {
    const begunMs = Date.now();
    let deployment: Deployment;
    let redis: Redis;
    let right: RunningProcess;
    let clockFile: string;
    let journal: Journal;
    /** The first node, as the logs know it. */
    let ofRight: unknown[];
    /** How many jobs are done again and again. */
    let scheduled: number;

    /** What the second node takes its clock from; it follows within a second. */
    const setClock = (offset: string): Promise<void> => writeFile(clockFile, `${offset}\n`);
    const startSecond = (name = 'second'): Promise<RunningProcess> => deployment.start(faked(), name);
    const faked = () => ({
      ...WEEKLY,
      LD_PRELOAD: faketimeLibrary!,
      FAKETIME_TIMESTAMP_FILE: clockFile,
      FAKETIME_CACHE_DURATION: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    });

    beforeAll(async () => {
      deployment = await createDeployment('PostgreSQL');
      redis = new Redis(deployment.environment['REDIS_URL']!);
      clockFile = join(deployment.folder, 'clock');
      right = await deployment.start(WEEKLY, 'first');
      journal = await Journal.begin(right.url);
      ofRight = await sealers(() => goesOn(right.url));
      scheduled = (await delays()).length;
      expect(scheduled).toBeGreaterThan(5);
    }, 120_000);
    afterAll(async () => {
      redis?.disconnect();
      await deployment?.close();
    });

    async function readiness(url: string) {
      const { status, json } = await request(url, '', '/readyz');
      return { status, clock: (json['checks'] as Record<string, string>)['clock'] };
    }

    const says = (url: string, suits: (clock: string) => boolean) =>
      until(
        () => readiness(url),
        ({ clock }) => suits(clock!),
      );

    async function metric(url: string): Promise<string> {
      return new TextDecoder().decode((await request(url, '', '/metrics')).bytes);
    }

    /** A node whose clock is wrong takes nothing, judges no token, and makes none. */
    async function takesNothing(wrong: string): Promise<void> {
      for (const body of [undefined, '{"attributes":{}}']) {
        const { status, json } = await request(wrong, journal.token, ASSETS, body);
        expect([status, json['description']]).toEqual([503, expect.stringContaining('the clock')]);
      }
      await expect(requestToken(wrong)).rejects.toThrow();
      expect(await metric(wrong)).toMatch(/^archivist_clock_wrong 1$/m);
      expect((await request(wrong, '', '/healthz')).status).toBe(200);
    }

    /** A node whose clock is right takes what it is given, has all logs, and seals in them. */
    async function goesOn(url: string): Promise<void> {
      const sent = journal.entries.length;
      await journal.sendMany(url, 6);
      expect(journal.acknowledged.length).toBe(sent + 6);
      expect(await readiness(url)).toEqual({ status: 200, clock: 'ok' });
      for (const { read } of journal.entries.slice(sent))
        await until(
          () => journal.get(url, read!),
          ({ json }) => json['confirmation_status'] === 'CONFIRMED',
        );
    }

    /** How long after it should be each job is due that is done again and again, at the latest; in milliseconds. */
    async function delays(): Promise<number[]> {
      const keys = await redis.keys('*:repeat');
      return Promise.all(
        keys.map(async (key) => {
          const [id, due] = await redis.zrange(key, '0', '-1', 'WITHSCORES');
          return Number(due) - Date.now() - Number((await redis.hget(`${key}:${id}`, 'every')) ?? WEEK_MS);
        }),
      );
    }

    async function everyScheduleIsDueInTime(): Promise<void> {
      const all = await until(
        delays,
        (each) => each.length >= scheduled && each.every((lateMs) => lateMs < 2 * MINUTE_MS),
        HEALED_WITHIN_MS,
      );
      expect(all.length).toBe(scheduled);
    }

    /** Who has sealed in the logs meanwhile. */
    async function sealers(meanwhile: () => Promise<void>): Promise<unknown[]> {
      const logs = () => deployment.owner('SELECT log_id, seal_number, lease_holder FROM archivist.log');
      const before = new Map((await logs()).map((log) => [log['log_id'], log['seal_number']]));
      await meanwhile();
      const sealed = (await logs()).filter((log) => log['seal_number'] !== before.get(log['log_id']));
      return [...new Set(sealed.map((log) => log['lease_holder']))];
    }

    /** No time in the database is from another clock: none before this test, none later than now that is no end of a term. */
    async function everyTimeIsRight(): Promise<void> {
      const columns = await deployment.owner(
        `SELECT table_name, column_name FROM information_schema.columns JOIN information_schema.tables
        USING (table_schema, table_name) WHERE table_schema = 'archivist' AND table_type = 'BASE TABLE'
          AND data_type LIKE 'timestamp%' AND table_name <> 'schema_migration'`,
      );
      expect(columns.length).toBeGreaterThan(30);
      let filled = 0;
      for (const { table_name: table, column_name: column } of columns) {
        const [times] = await deployment.owner(
          `SELECT min(${column}) AS first, max(${column}) AS last FROM archivist.${table}`,
        );
        const { first, last } = times as { first: Date | null; last: Date | null };
        if (!first || !last) continue;
        filled += 1;
        expect.soft([table, column, first.getTime() > begunMs - MINUTE_MS]).toEqual([table, column, true]);
        const isTerm = /until|expires|due|next|ends/.test(`${column}`);
        if (!isTerm)
          expect.soft([table, column, last.getTime() < Date.now() + MINUTE_MS]).toEqual([table, column, true]);
      }
      expect(filled).toBeGreaterThan(10);
    }

    it('which is the first of all: it makes nothing, and says why', async () => {
      await setClock('+3600');
      const empty = await createDeployment('PostgreSQL');
      try {
        const wrong = empty.spawn(faked());
        expect([await wrong.ready, await wrong.ended]).toEqual([undefined, 1]);
        expect(wrong.output()).toMatch(/could not start: the clock is 3[56]\d\d s ahead of the database's/);
        expect(
          await empty.owner('SELECT 1 FROM archivist.tenancy UNION ALL SELECT 1 FROM archivist.signing_key'),
        ).toEqual([]);
      } finally {
        await empty.close();
      }
    }, 60_000);

    it('which was wrong when it started: the other goes on, and it does too when its clock is corrected', async () => {
      await setClock('+3600');
      const wrong = await startSecond();
      await says(wrong.url, (clock) => /WRONG: the clock is 3[56]\d\d s ahead of the database's/.test(clock));
      await takesNothing(wrong.url);
      await goesOn(right.url);
      await setClock('+0');
      await says(wrong.url, (clock) => clock === 'ok');
      await goesOn(wrong.url);
      await wrong.stop();
      await everyTimeIsRight();
    }, 120_000);

    it('again and again: it takes, signs, judges and schedules nothing, says so, and goes on when its clock is right', async () => {
      await setClock('+0');
      const wrong = await startSecond();
      for (const [offset, said] of OFFSETS) {
        // The jobs that are due meanwhile are for the other alone.
        right.signal('SIGSTOP');
        await setClock(offset);
        await wait(ALONE_MS);
        right.signal('SIGCONT');
        await says(wrong.url, (clock) => clock.includes(said));
        await takesNothing(wrong.url);
        // What it had is free at once, so that it could take it again.
        await deployment.expireLeases();
        expect(await sealers(() => goesOn(right.url))).toEqual(ofRight);
        await everyScheduleIsDueInTime();
        await setClock('+0');
        await says(wrong.url, (clock) => clock === 'ok');
        await goesOn(wrong.url);
        // What one has signed, the other takes.
        expect((await request(right.url, await requestToken(wrong.url), ASSETS)).status).toBe(200);
        expect((await request(wrong.url, await requestToken(right.url), ASSETS)).status).toBe(200);
      }
      await wrong.stop();
      const told = wrong.logLines().filter(({ msg }) => msg === 'the clock is wrong: nothing is accepted or signed');
      expect(told.length).toBeGreaterThanOrEqual(OFFSETS.length);
      const follower = new Follower(deployment, journal);
      await follower.audit(right.url);
      await everyTimeIsRight();
    }, 180_000);
  },
);
