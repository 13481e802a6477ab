import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { QueueBackend } from '../../src/platform/queue/queue-backend.js';
import { hasRedis, type PrivateServer, privateRedis, redisCommand } from '../faults/private-servers.js';
import { eventually, freshVcon, type OpenBackend, openBackend, report, startRig } from './plugin-rig.js';

describe.skipIf(!hasRedis())('the parts of a plugin', () => {
  let open: OpenBackend;
  let folder: string;
  /** Only the plugin connects to it. */
  let redis: PrivateServer;
  beforeAll(async () => {
    open = await openBackend('embedded');
  });
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'closed-parts-'));
    redis = await privateRedis(join(folder, 'redis'));
  });
  afterEach(async () => {
    await redis.close();
    await rm(folder, { recursive: true, force: true });
  });
  afterAll(() => open.close());

  const settings = () => ({
    ...{ conserverRedisUrl: redis.url, tapList: 'tap', endings: true },
    ...{ receipts: true, receiptKey: 'receipt:{uuid}' },
  });
  /** Connections of anybody but the one that asks. */
  const connected = () =>
    redisCommand(redis.url, async (client: Redis) => {
      const [own, list] = [await client.client('ID'), (await client.client('LIST')) as string];
      return list
        .trim()
        .split('\n')
        .filter((line) => !line.startsWith(`id=${own} `)).length;
    });
  /** A queue some of whose workers do not start, or fail when they are closed. */
  const workers = (worker: QueueBackend['worker']): QueueBackend => ({ ...open.backend, worker });
  const failing = (name: string, suffix: string): QueueBackend =>
    workers((queue, ...rest) => {
      const worker = open.backend.worker(queue, ...rest);
      if (!queue.endsWith(suffix)) return worker;
      const close = async (): Promise<void> => {
        await worker.close();
        throw new Error(name);
      };
      return { on: worker.on.bind(worker) as typeof worker.on, close };
    });

  it('are all closed when a later one does not start, and the start says which one', async () => {
    const refusing = workers((queue, ...rest) => {
      if (queue.endsWith('receipts')) throw new Error('no worker for receipts');
      return open.backend.worker(queue, ...rest);
    });
    await expect(startRig(refusing, { settings: settings() })).rejects.toThrow('no worker for receipts');
    await eventually(async () => (await connected()) === 0);
  });

  it('are all closed when one of them does not close after a start that failed, and the start says what failed first', async () => {
    const taken = createServer();
    const port = await new Promise<number>((resolve) =>
      taken.listen(0, '127.0.0.1', () => resolve((taken.address() as { port: number }).port)),
    );
    try {
      const starting = startRig(failing('the gap report does not close', 'gaps'), {
        settings: { ...settings(), port },
      });
      await expect(starting).rejects.toThrow('EADDRINUSE');
      await eventually(async () => (await connected()) === 0);
    } finally {
      taken.close();
    }
  });

  it('are all closed when one of them does not close, and the stop says which one', async () => {
    const rig = await startRig(failing('the gap report does not close', 'gaps'), { settings: settings() });
    await report(`${rig.url}/operations/vcon_created`, freshVcon());
    await eventually(async () => (await connected()) > 3);
    await expect(rig.close()).rejects.toThrow('the gap report does not close');
    await eventually(async () => (await connected()) === 0);
    await rig.archivist.close();
  });
});
