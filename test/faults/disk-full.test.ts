import { describe, expect, it } from 'vitest';
import { mayMount, smallDisk } from '../support/small-disk.js';
import { createDeployment, ENGINES, type RunningProcess, requestToken } from './deployment.js';
import { Follower } from './follower.js';
import { Journal, request, until } from './journal.js';

const MEGABYTE = 1024 * 1024;
const WITHIN_MS = 300_000;

/** Sends creates until one is refused because the disk of this is full. */
async function refusedFor(service: RunningProcess, journal: Journal, use: string): Promise<void> {
  await until(
    async () => {
      const entry = journal.next();
      if (await journal.send(service.url, entry)) return 'acknowledged';
      const { status, json } = await request(service.url, journal.token, entry.path, entry.body, entry.key);
      return `${status} ${String(json['error'])} ${String(json['description'])}`;
    },
    (answer) => answer.startsWith(`507 disk_full The disk of ${use} is full.`),
  );
}

async function metric(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.slice(name.length),
  );
}

async function goesOn(service: RunningProcess, journal: Journal): Promise<void> {
  await until(
    () => journal.send(service.url),
    (acknowledged) => acknowledged,
  );
}

describe.skipIf(!mayMount())('a disk of the service is full', () => {
  it(
    'embedded: writes are refused before the engine is in danger, reads go on, also after a restart, and then all goes on',
    async () => {
      const disk = smallDisk(256);
      const deployment = await createDeployment('embedded', undefined, { within: disk.folder });
      try {
        let service = await deployment.start();
        const journal = await Journal.begin(service.url);
        const follower = new Follower(deployment, journal);
        await journal.sendMany(service.url, 6);
        const [memory, written] = [await metric(service.url, 'process_resident_memory_bytes'), service.output().length];
        disk.fill(30 * MEGABYTE);
        await refusedFor(service, journal, 'the database');
        for (let sent = 0; sent < 60; sent += 1) await journal.send(service.url);
        const [acknowledged] = journal.acknowledged;
        expect((await journal.get(service.url, acknowledged!.read!)).status).toBe(200);
        expect(await journal.get(service.url, '/readyz')).toMatchObject({
          status: 503,
          json: { ready: false, checks: { disk: expect.stringContaining('FULL: database, objects') } },
        });
        expect(await metric(service.url, 'archivist_disk_full{what="database"}')).toBe(1);
        expect(await metric(service.url, 'archivist_disk_free_bytes{what="database"}')).toBeLessThan(64 * MEGABYTE);
        expect(await metric(service.url, 'process_resident_memory_bytes')).toBeLessThan(memory + 200 * MEGABYTE);
        // A line for each cause, whatever the number of refusals.
        expect(service.output().slice(written).split('\n').length).toBeLessThan(25);
        await service.kill();
        // The engine itself does not survive a full disk, so it has a reserve that no setting removes.
        service = await deployment.start({ MIN_FREE_DISK_BYTES: '0' });
        await refusedFor(service, journal, 'the database');
        await requestToken(service.url);
        expect((await journal.get(service.url, acknowledged!.read!)).status).toBe(200);
        disk.makeRoom();
        await goesOn(service, journal);
        await follower.audit(service.url);
        await service.stop();
      } finally {
        await deployment.close();
        disk.close();
      }
    },
    WITHIN_MS,
  );

  it(
    'embedded: a start that finds no room for the engine says so',
    async () => {
      const disk = smallDisk(128);
      const deployment = await createDeployment('embedded', undefined, { within: disk.folder });
      try {
        disk.fill(0);
        const service = deployment.spawn();
        expect(await service.ended).toBe(1);
        expect(service.output()).toMatch(/the database in DATA_DIR cannot be opened: .*No space left on device/);
      } finally {
        await deployment.close();
        disk.close();
      }
    },
    WITHIN_MS,
  );

  it.runIf(ENGINES.includes('PostgreSQL'))(
    'PostgreSQL: rounds in a thread of their own that meet a full object store hold writes up too, and lose nothing',
    async () => {
      const disk = smallDisk(8);
      const deployment = await createDeployment('PostgreSQL', undefined, { objectsDir: disk.folder });
      try {
        // Without a reserve, each write of a round meets the full disk itself.
        const service = await deployment.start({ MIN_FREE_DISK_BYTES: '0' });
        const journal = await Journal.begin(service.url);
        const follower = new Follower(deployment, journal);
        for (const pages of [0, 2, 7]) {
          disk.fill(pages * 4096);
          await refusedFor(service, journal, 'the object store');
          expect(await metric(service.url, 'archivist_disk_full{what="objects"}')).toBe(1);
          disk.makeRoom();
          await goesOn(service, journal);
        }
        await follower.audit(service.url);
        await service.stop();
      } finally {
        await deployment.close();
        disk.close();
      }
    },
    WITHIN_MS,
  );
});
