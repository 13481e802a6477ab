import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { answerWithin } from '../../plugins/capture/answer-window.js';
import { type Capture, type CaptureOperation, createCapture } from '../../plugins/capture/capture-operation.js';
import type { Ended } from '../../plugins/capture/ended.js';
import { startKeyspaceEndings } from '../../plugins/endings/keyspace-endings.js';
import type { Memory } from '../../plugins/memory/memory.js';
import { redisMemory } from '../../plugins/memory/redis-memory.js';
import { createCaptureSequence } from '../../plugins/operation/capture-sequence.js';
import { namedOperation, OperationError } from '../../plugins/operation/operation.js';
import { OPERATION_QUEUE } from '../../plugins/operation/operation-job.js';
import { vconFacts } from '../../plugins/operation/vcon-facts.js';
import { refusedStream, STREAM_GROUP, startStreamConsumer } from '../../plugins/stream/stream-consumer.js';
import { hasRedis, type PrivateServer, privateRedis } from '../faults/private-servers.js';
import { eventually, freshVcon, type OpenBackend, openBackend, silent } from './plugin-rig.js';

const STREAM = 'stream';
const HASH = 'ab'.repeat(32);

describe.skipIf(!hasRedis())('a Redis that is full', () => {
  let folder: string;
  let server: PrivateServer;
  let redis: Redis;
  let closing: { close(): Promise<void> }[];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'full-redis-'));
    server = await privateRedis(join(folder, 'redis'));
    redis = new Redis(server.url);
    closing = [];
  });
  afterEach(async () => {
    for (const each of closing) await each.close();
    redis.disconnect();
    await server.close();
    await rm(folder, { recursive: true, force: true });
  });

  const full = () => redis.config('SET', 'maxmemory', '1');
  const roomy = () => redis.config('SET', 'maxmemory', '0');

  describe('does not hold up the stream', () => {
    let stored: Ended[];
    /** What was said to the consumer's callers, in order. */
    let said: ('end' | 'refused')[];
    beforeEach(async () => {
      [stored, said] = [[], []];
      await redis.xgroup('CREATE', STREAM, STREAM_GROUP, '0', 'MKSTREAM');
    });

    const append = (changed: Record<string, string> = {}) => {
      const record = { version: '1', method: 'link', operation: 'vcon_created', uuid: randomUUID(), hash: HASH };
      return redis.xadd(STREAM, '*', ...Object.entries({ ...record, ...changed }).flat());
    };
    const capture: CaptureOperation = async (ended) => {
      if (ended.operation.tenancy) throw new OperationError('the tenancy is not in ARCHIVIST_TENANCIES');
      stored.push(ended);
      return { job: '', subject: '', payload: '' };
    };
    const start = async () =>
      closing.push(
        await startStreamConsumer({
          ...{ url: server.url, stream: STREAM, consumer: randomUUID(), capture, logger: silent },
          ...{ clock: { now: () => Date.now() }, clockIsWrong: () => false, abandonedAfterMs: 100 },
          ended: async () => void said.push('end'),
          refused: () => void said.push('refused'),
        }),
      );

    it('what is stored is removed from it, once', async () => {
      for (let entry = 0; entry < 3; entry += 1) await append();
      await full();
      await start();
      await eventually(async () => (await redis.xlen(STREAM)) === 0);
      expect(stored).toHaveLength(3);
      expect((await redis.xpending(STREAM, STREAM_GROUP))[0]).toBe(0);
    });

    it('what cannot be read or is refused waits for room, and what is behind it does not, an end neither', async () => {
      const wrong = [await append({ hash: 'none' }), await append({ tenancy: 'unknown' })];
      await append();
      await append({ method: 'storages', operation: 'vcon_deleted', key: randomUUID(), storages: '{}' });
      // More than are taken at once.
      for (let entry = 0; entry < 70; entry += 1) wrong.push(await append({ version: '2' }));
      await append();
      await full();
      await start();
      await eventually(() => stored.length === 2 && said.length === 1);
      await eventually(async () => (await redis.xlen(STREAM)) === wrong.length);
      expect([await redis.exists(refusedStream(STREAM)), said]).toEqual([0, ['end']]);
      await roomy();
      await eventually(async () => (await redis.xlen(STREAM)) === 0);
      const aside = await redis.xrange(refusedStream(STREAM), '-', '+');
      expect(aside.map(([, fields]) => fields[1]).sort()).toEqual(wrong.sort());
      expect(said.slice(1)).toEqual(wrong.map(() => 'refused'));
    });
  });

  it('takes what it was asked to look for as soon as it has room, however late', async () => {
    const uuid = randomUUID();
    await redis.config('SET', 'notify-keyspace-events', 'Exgd');
    await redis.set(`vcon:${uuid}`, '{}');
    const unlooked: string[] = [];
    closing.push(
      startKeyspaceEndings({
        ...{ url: server.url, stream: STREAM, logger: silent, isKnown: async () => true },
        ...{ unknown: () => undefined, unlooked: () => void unlooked.push('unlooked') },
      }),
    );
    await eventually(async () => ((await redis.pubsub('NUMSUB', '__keyevent@0__:del'))[1] as number) > 0);
    await full();
    await redis.del(`vcon:${uuid}`);
    // Longer than a conserver's Redis is away at a restart.
    await wait(22_000);
    expect([await redis.exists(`${STREAM}:look`), unlooked]).toEqual([0, []]);
    await roomy();
    await eventually(async () => (await redis.zscore(`${STREAM}:look`, `deleted:${uuid}`)) !== null);
  });

  describe('and is the memory of the plugin', () => {
    let open: OpenBackend;
    let memory: Memory;
    let lines: string[];
    let capturing: Capture;
    beforeAll(async () => {
      open = await openBackend('embedded');
    });
    beforeEach(() => {
      lines = [];
      const logger = pino({ level: 'error' }, { write: (line: string) => void lines.push(line) });
      memory = redisMemory(server.url, silent);
      // As if Redis had room for the hold, and for nothing after that.
      const held = { ...memory, hold: async () => async () => undefined };
      const counts = { counted: () => undefined, doubled: () => undefined, withdrawn: new Set<string>() };
      capturing = createCapture({ backend: open.backend, memory: held, passages: held, logger, ...counts });
      closing.push(capturing, memory);
    });
    afterEach(() => open.empty());
    afterAll(() => open.close());

    const observe = createCaptureSequence({ now: () => Date.now() });
    const created = async (uuid: string, members = {}): Promise<Ended> => {
      const vcon = await vconFacts(Buffer.from(freshVcon({ uuid, ...members })));
      return { operation: namedOperation('vcon_created'), vcon, method: 'receiver', observed: observe() };
    };
    /** As the receiver does, which cannot be asked to repeat what it has accepted. */
    const receive = (ended: Ended) =>
      answerWithin({ finalMs: 20_000, answerMs: 30_000 }, (window) => capturing.capture(ended, window), 'late');
    const queued = () => open.backend.queue(OPERATION_QUEUE).getJobCountByTypes('waiting', 'delayed');

    it('an operation of the stream is repeated until it is remembered, and is one event', async () => {
      const ended = await created(randomUUID());
      await full();
      await expect(capturing.capture(ended)).rejects.toThrow('EXECABORT');
      await roomy();
      const { payload } = await capturing.capture(ended);
      const kept = await Promise.all([memory.read('vcons', ended.vcon.uuid!), memory.read('tap', ended.vcon.uuid!)]);
      expect(kept).toMatchObject([{ payload }, { captured: String(ended.observed.atMs) }]);
      expect(await queued()).toBe(1);
    });

    it.each([
      ['is remembered and noted at the stop, if there is room by then', true],
      ['is named in the log at the stop, if there is no room by then', false],
    ])('an operation that was accepted %s', async (_case, room) => {
      const ended = await created(randomUUID());
      const uuid = ended.vcon.uuid!;
      await full();
      const { payload } = await receive(ended);
      if (room) await roomy();
      await capturing.close();
      const kept = [(await memory.read('vcons', uuid))['payload'], (await memory.read('tap', uuid))['captured']];
      expect(kept).toEqual(room ? [payload, String(ended.observed.atMs)] : [undefined, undefined]);
      expect(lines.some((line) => line.includes(uuid))).toBe(!room);
    });

    it('a capture that is remembered late takes nothing back from a later one of another plugin', async () => {
      const uuid = randomUUID();
      const [older, newer] = [await created(uuid), await created(uuid, { analysis: [{ type: 'summary' }] })];
      await full();
      await receive(older);
      await roomy();
      const counts = { counted: () => undefined, doubled: () => undefined, withdrawn: new Set<string>() };
      const other = createCapture({ backend: open.backend, memory, passages: memory, logger: silent, ...counts });
      const { payload } = await other.capture(newer);
      await capturing.close();
      await other.close();
      expect((await memory.read('vcons', uuid))['payload']).toBe(payload);
    });
  });
});
