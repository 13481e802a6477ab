import { createHash, randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { QueueBackend } from '../../src/platform/queue/queue-backend.js';
import { emptyRedis } from '../support/own-redis.js';
import { redisUrl } from '../support/prerequisites.js';
import { eventually, freshVcon, type OpenBackend, openBackend, type Rig, report, startRig } from './plugin-rig.js';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describe.skipIf(!redisUrl)('the end of a vCon whose last capture waits on the local disk', () => {
  let open: OpenBackend;
  let redis: Redis;
  let rig: Rig;
  let away: boolean;
  let dataDir: string;
  const stream = `stream-${randomUUID()}`;

  beforeAll(async () => {
    open = await openBackend('embedded');
  });
  beforeEach(async () => {
    away = false;
    const url = await emptyRedis();
    redis = new Redis(url);
    // It takes no capture while it is away, and an end at any time: so the order is the plugin's own.
    const queue: QueueBackend['queue'] = (name) =>
      new Proxy<Queue>(open.backend.queue(name), {
        get: (target, member) =>
          away && member === 'addBulk' ? () => Promise.reject(new Error('away')) : Reflect.get(target, member),
      });
    const settings = { failOpen: true, conserverRedisUrl: url, stream, endings: true, receipts: false };
    dataDir = await mkdtemp(join(tmpdir(), 'end-behind-spool-'));
    rig = await startRig({ ...open.backend, queue }, { settings, keeps: { dataDir, redisUrl: undefined } });
  });
  afterEach(async () => {
    await rig.close();
    redis.disconnect();
    await rm(dataDir, { recursive: true });
  });
  afterAll(() => open.close());

  const recorded = (uuid: string) =>
    rig.archivist
      .seenAt('event')
      .map(({ body }) => (JSON.parse(body) as { event_attributes: Record<string, string> }).event_attributes)
      .filter(({ subject }) => subject === `vcon://${uuid}`);

  it.each([
    ['an earlier state was captured', true],
    ['nothing of it was captured before', false],
  ])('is recorded after that capture, and with its hash: %s', async (_case, isKnown) => {
    const uuid = randomUUID();
    const [before, last] = [freshVcon({ uuid }), freshVcon({ uuid, analysis: [{ type: 'summary' }] })];
    if (isKnown) {
      await report(`${rig.url}/operations/vcon_created`, before);
      await eventually(() => recorded(uuid).length === 1);
    }
    away = true;
    await report(`${rig.url}/operations/vcon_enhanced`, last);
    const end = { version: '1', method: 'storages', operation: 'vcon_expired', key: uuid, storages: '{}' };
    await redis.xadd(stream, '*', ...Object.entries(end).flat());
    await wait(1_500);
    expect(await redis.xlen(stream)).toBe(1);
    away = false;
    await eventually(() => recorded(uuid).length === (isKnown ? 3 : 2));
    await eventually(async () => (await redis.xlen(stream)) === 0);
    const inOrder = recorded(uuid).sort((a, b) => (a['capture_sequence']! < b['capture_sequence']! ? -1 : 1));
    expect(inOrder.slice(-2).map((each) => [each['vcon_operation'], each['payload']])).toEqual([
      ['vcon_enhanced', sha256(last)],
      ['vcon_expired', sha256(last)],
    ]);
  });

  it('is not recorded if the vCon was captured again after its end was found', async () => {
    const uuid = randomUUID();
    const [before, back] = [freshVcon({ uuid }), freshVcon({ uuid, n: 2 })];
    await report(`${rig.url}/operations/vcon_created`, before);
    await eventually(() => recorded(uuid).length === 1);
    // The plugin has read the time of that Redis.
    await wait(1_500);
    away = true;
    await report(`${rig.url}/operations/vcon_created`, back);
    const end = { version: '1', method: 'storages', operation: 'vcon_deleted', key: uuid, storages: '{}' };
    await redis.xadd(stream, `${Date.now() - 20_000}-0`, ...Object.entries(end).flat());
    away = false;
    await eventually(async () => (await redis.xlen(stream)) === 0);
    await eventually(() => recorded(uuid).length >= 2);
    await wait(500);
    expect(recorded(uuid).map((each) => each['vcon_operation'])).toEqual(['vcon_created', 'vcon_created']);
  });

  it('waits also for a capture that is in the queue and could not be remembered yet', async () => {
    const uuid = randomUUID();
    const [document, folder] = [freshVcon({ uuid }), join(dataDir, 'plugin', 'memory', 'vcons')];
    await redis.config('SET', 'notify-keyspace-events', 'Exgd');
    await mkdir(dirname(folder), { recursive: true });
    // As while a volume is not mounted: nothing is there to read, and nothing can be written.
    await symlink(join(dataDir, 'absent', 'volume'), folder);
    await report(`${rig.url}/operations/vcon_created`, document);
    await redis.set(`vcon:${uuid}`, document, 'PX', 20);
    await eventually(async () => (await redis.zscore(`${stream}:look`, `expired:${uuid}`)) !== null);
    const end = { version: '1', method: 'storages', operation: 'vcon_expired', key: uuid, storages: '{}' };
    await redis.xadd(stream, '*', ...Object.entries(end).flat());
    await wait(300);
    expect(await redis.xlen(stream)).toBe(1);
    await rm(folder);
    await eventually(() => recorded(uuid).length === 2);
    const ended = recorded(uuid).find((each) => each['vcon_operation'] === 'vcon_expired');
    expect(ended?.['payload']).toBe(sha256(document));
  });
});
