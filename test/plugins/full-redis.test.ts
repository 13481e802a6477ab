import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CaptureOperation } from '../../plugins/capture/capture-operation.js';
import type { Ended } from '../../plugins/capture/ended.js';
import { OperationError } from '../../plugins/operation/operation.js';
import { refusedStream, STREAM_GROUP, startStreamConsumer } from '../../plugins/stream/stream-consumer.js';
import { hasRedis, type PrivateServer, privateRedis } from '../faults/private-servers.js';
import { eventually, silent } from './plugin-rig.js';

const STREAM = 'stream';
const HASH = 'ab'.repeat(32);

describe.skipIf(!hasRedis())('a Redis of the conserver that is full', () => {
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
      await eventually(async () => (await redis.xlen(STREAM)) === 0, 5_000);
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
      await eventually(() => stored.length === 2 && said.length === 1, 5_000);
      await eventually(async () => (await redis.xlen(STREAM)) === wrong.length, 5_000);
      expect([await redis.exists(refusedStream(STREAM)), said]).toEqual([0, ['end']]);
      await roomy();
      await eventually(async () => (await redis.xlen(STREAM)) === 0, 10_000);
      const aside = await redis.xrange(refusedStream(STREAM), '-', '+');
      expect(aside.map(([, fields]) => fields[1]).sort()).toEqual(wrong.sort());
      expect(said.slice(1)).toEqual(wrong.map(() => 'refused'));
    });
  });
});
