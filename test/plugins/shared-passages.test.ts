import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { pluginsWithoutSharedMemory } from '../../plugins/delivery/unshared-memory.js';
import type { Memory } from '../../plugins/memory/memory.js';
import { openPassages } from '../../plugins/memory/open-memory.js';
import { examineQueue } from '../../plugins/operator/examine-queue.js';
import { processingList } from '../../plugins/tap/egress-tap.js';
import { reportGaps } from '../../plugins/tap/report-gaps.js';
import { postgresQueues } from '../../src/platform/queue/open-queue-backend.js';
import type { QueueBackend } from '../../src/platform/queue/queue-backend.js';
import { engines, type TestDatabase } from '../support/engines.js';
import { ownRedisUrl } from '../support/own-redis.js';
import { redisUrl, serverUrl } from '../support/prerequisites.js';
import { eventually, freshVcon, type Rig, report, silent, startRig } from './plugin-rig.js';

const HOUR_MS = 3_600_000;
/** No pattern of Redis must find another list's entries by it. */
const list = `tap[*]-${randomUUID()}`;

let opened: TestDatabase;
let backend: QueueBackend;
let redis: Redis;
let passages: Memory;
let rigs: Rig[];

beforeAll(async () => {
  if (!redisUrl || !serverUrl) return;
  opened = await engines()
    .find(({ name }) => name === 'PostgreSQL')!
    .open();
  backend = postgresQueues(opened.database, silent);
  const url = ownRedisUrl('plugin');
  redis = new Redis(url);
  const unshared: Memory = { ...({} as Memory), close: async () => undefined };
  passages = openPassages(unshared, backend, { url, list }, silent);
});
afterEach(async () => {
  for (const rig of rigs) await rig.close();
  for await (const uuid of passages.names('tap')) await passages.forget('tap', uuid);
  for await (const day of passages.names('gaps')) await passages.forget('gaps', day);
  await redis.del(list, processingList(list));
});
afterAll(async () => {
  redis?.disconnect();
  await passages?.close();
  await backend?.close();
  await opened?.close();
});

it.skipIf(!redisUrl || !serverUrl)('doctor tells that plugins on one queue in PostgreSQL remember apart', async () => {
  const clock = { now: () => Date.now() };
  const apart = async () => {
    const found = await examineQueue(async () => ({ backend, close: async () => undefined }), undefined, clock);
    return found.find(({ check }) => check === 'memory')?.state;
  };
  const settings = { receipts: false, reports: false };
  rigs = [await startRig(backend, { settings })];
  await eventually(async () => (await pluginsWithoutSharedMemory(backend)) === 1);
  expect(await apart()).toBeUndefined();
  rigs.push(await startRig(backend, { settings }));
  await eventually(async () => (await apart()) === 'change');
});

it.skipIf(!redisUrl || !serverUrl)(
  'a vCon that one plugin captures and another sees leave is no gap, with the queue in PostgreSQL and a DATA_DIR each',
  async () => {
    const settings = { conserverRedisUrl: ownRedisUrl('plugin'), tapList: list, receipts: false, endings: false };
    rigs = [await startRig(backend, { settings }), await startRig(backend, { settings })];
    const uuids = Array.from({ length: 11 }, () => randomUUID());
    for (const [place, uuid] of uuids.entries())
      await report(`${rigs[place % 2]!.url}/operations/vcon_created`, freshVcon({ uuid }));
    const noted = async (field: string) => {
      const found = await Promise.all(uuids.map((uuid) => passages.read('tap', uuid)));
      return found.filter((fields) => fields[field] !== undefined).length;
    };
    await eventually(async () => (await noted('captured')) === uuids.length);
    const [halted, ...leaving] = uuids;
    await redis.rpush(list, ...leaving);
    await eventually(async () => (await noted('left')) === leaving.length);
    const found = await reportGaps(
      { backend, memory: passages, list, eventsAbout: async () => [] },
      { atMs: Date.now() + 2 * HOUR_MS, sequence: '1' },
    );
    expect(found.vcons).toBe(1);
    const { documents } = await passages.read('gaps', found.day);
    const [document] = JSON.parse(documents!) as [string];
    expect(JSON.parse(document)).toMatchObject({ left_without_event: [], event_without_leaving: [halted] });
  },
);
