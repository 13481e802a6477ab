import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Failpoints } from '../../src/ledger/failpoints.js';
import type { DiskUse } from '../../src/platform/disk/disk-full.js';
import { parseConfig } from '../../src/service/config/config.js';
import { type RunningService, startService } from '../../src/start-service.js';
import { mayMount, type SmallDisk, smallDisk } from '../support/small-disk.js';
import { createDeployment, type Deployment, ENGINES, type EngineName } from './deployment.js';
import { Follower } from './follower.js';
import { Journal, request, until } from './journal.js';
import { type PrivateServer, postgresPrograms, privatePostgres } from './private-servers.js';

/** Between the durable steps of accept, sign, commit, seal and publish. */
const STEPS = [
  'accept.before',
  'accept.after',
  'sign.before',
  'sign.inside',
  'commit.before',
  'commit.after',
  'seal.before',
  'seal.signed',
  'publish.before',
  'publish.numbered',
  'publish.files',
  'publish.inside',
  'publish.after',
];
const EVENTS = 3;
const MEGABYTE = 1024 * 1024;
/** Longer than a reported disk counts as full. */
const BELIEVED_MS = 6_000;
const LOGGED_EVERY_MS = 60_000;
const WITHIN_MS = 240_000;
const NAMES = { database: 'the database', objects: 'the object store' } as const;
const PROGRAMS = postgresPrograms();

/** What fills up, how far, and where it is mounted. */
interface Scene {
  readonly engine: EngineName;
  readonly use: 'database' | 'objects';
  readonly megabytes: number;
  /** The embedded database refuses writes in time; everything else meets a disk without a byte. */
  readonly left: number;
}

const SCENES: readonly Scene[] = [
  { engine: 'embedded', use: 'database', megabytes: 256, left: 30 * MEGABYTE },
  ...ENGINES.map((engine) => ({ engine, use: 'objects' as const, megabytes: 8, left: 0 })),
  ...(PROGRAMS ? [{ engine: 'PostgreSQL' as const, use: 'database' as const, megabytes: 160, left: 0 }] : []),
];

/** Stops the service at one place until it is let go on. */
class Pause implements Failpoints {
  #at: string | undefined;
  #reached: () => void = () => undefined;
  #release: () => void = () => undefined;
  #released: Promise<void> = Promise.resolve();

  /** Resolves when the service has come to this place. */
  arm(name: string): Promise<void> {
    this.#at = name;
    this.#released = new Promise((resolve) => {
      this.#release = resolve;
    });
    return new Promise((resolve) => {
      this.#reached = resolve;
    });
  }

  release(): void {
    this.#at = undefined;
    this.#release();
  }

  async reach(name: string): Promise<void> {
    if (name !== this.#at) return;
    this.#reached();
    await this.#released;
  }
}

describe.skipIf(!mayMount())('a disk that fills up between two durable steps', () => {
  describe.each(SCENES)('$engine, $use', ({ engine, use, megabytes, left }) => {
    const pause = new Pause();
    const lines: { readonly msg: string; readonly disk?: DiskUse }[] = [];
    const begunMs = performance.now();
    let aheadMs = 0;
    const diskNow = () => performance.now() + aheadMs;
    let disk: SmallDisk;
    let folder: string;
    let postgres: PrivateServer | undefined;
    let deployment: Deployment;
    let service: RunningService;
    let journal: Journal;
    let follower: Follower;

    beforeAll(async () => {
      disk = smallDisk(megabytes);
      folder = await mkdtemp(join(tmpdir(), 'disk-steps-'));
      for (const each of [disk.folder, folder]) await chmod(each, 0o777);
      if (engine === 'PostgreSQL' && use === 'database')
        // A server whose log cannot be written ends and recovers: that is its crash, not a refusal.
        postgres = await privatePostgres(PROGRAMS!, join(disk.folder, 'postgres'), join(folder, 'log'));
      deployment = await createDeployment(engine, postgres?.url, {
        within: use === 'database' && engine === 'embedded' ? disk.folder : folder,
        objectsDir: join(use === 'objects' ? disk.folder : folder, 'objects'),
      });
      // Without a reserve, a step meets the full disk itself; the embedded database always has one.
      const settings = deployment.settings({ MIN_FREE_DISK_BYTES: '0' });
      service = await startService(parseConfig(settings), {
        failpoints: pause,
        diskNow,
        logger: pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line)) }),
      });
      journal = await Journal.begin(service.url);
      follower = new Follower(deployment, journal);
      await journal.sendMany(service.url, EVENTS);
    });
    afterAll(async () => {
      pause.release();
      disk?.makeRoom();
      await service?.close();
      await deployment?.close();
      await postgres?.close();
      disk?.close();
      await rm(folder, { recursive: true, force: true });
    });

    async function refused(): Promise<void> {
      await until(
        async () => {
          const entry = journal.next();
          if (await journal.send(service.url, entry)) return 'acknowledged';
          const { status, json } = await request(service.url, journal.token, entry.path, entry.body, entry.key);
          return `${status} ${String(json['error'])} ${String(json['description'])}`;
        },
        (answer) => answer.startsWith(`507 disk_full The disk of ${NAMES[use]} is full.`),
      );
    }

    /** The watch looks once a second: until then everything is acknowledged, and would have to be audited as well. */
    async function seen(): Promise<void> {
      if (left === 0) return;
      await until(
        async () => (await journal.get(service.url, '/readyz')).status,
        (status) => status === 503,
      );
    }

    async function saidSo(): Promise<void> {
      const [acknowledged] = journal.acknowledged;
      expect((await journal.get(service.url, acknowledged!.read!)).status).toBe(200);
      const readiness = await journal.get(service.url, '/readyz');
      expect([readiness.status, String((readiness.json['checks'] as { disk: string }).disk)]).toEqual([
        503,
        expect.stringMatching(new RegExp(`^FULL: ([a-z]+, )*${use}[,;]`)),
      ]);
      const metrics = await (await fetch(`${service.url}/metrics`)).text();
      expect(metrics).toContain(`archivist_disk_full{what="${use}"} 1`);
    }

    it.each(STEPS)(
      'at %s: writes are refused with its name, reads go on, and all goes on when there is room',
      async (step) => {
        const reached = pause.arm(step);
        const sending = journal.sendMany(service.url, EVENTS);
        await reached;
        disk.fill(left);
        pause.release();
        await seen();
        await refused();
        await saidSo();
        await sending;
        disk.makeRoom();
        aheadMs += BELIEVED_MS;
        await until(
          () => journal.send(service.url),
          (acknowledged) => acknowledged,
        );
        await journal.sendAgain(service.url);
      },
      WITHIN_MS,
    );

    it(
      'after all of that, everything acknowledged is logged once and proven, and the log said it once a minute',
      async () => {
        await follower.audit(service.url);
        const count = (text: string) => lines.filter(({ msg, disk: of }) => of === use && msg.startsWith(text)).length;
        const [full, over] = [count('the disk is full'), count('there is room on the disk again')];
        expect(full).toBeGreaterThan(0);
        expect(full).toBeLessThanOrEqual(1 + over + Math.ceil((diskNow() - begunMs) / LOGGED_EVERY_MS));
      },
      WITHIN_MS,
    );
  });
});
