import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { keepWorker } from '../../../src/platform/queue/keep-worker.js';
import { openRedisQueues, postgresQueues } from '../../../src/platform/queue/open-queue-backend.js';
import type { Processor, QueueBackend } from '../../../src/platform/queue/queue-backend.js';
import { hasRedis, privateRedis, redisCommand } from '../../faults/private-servers.js';
import { eventually } from '../../plugins/plugin-rig.js';
import { engines, type TestDatabase } from '../../support/engines.js';
import { emptyRedis } from '../../support/own-redis.js';
import { redisUrl } from '../../support/prerequisites.js';
import { SPOILED, startTcpProxy } from '../../support/tcp-proxy.js';

const silent = pino({ level: 'silent' });
const SPOILED_MS = 500;
const NEVER_MS = 1_000_000;
const LONGER_THAN_STORING_MS = 6_000;

interface Backend {
  readonly name: string;
  open(): Promise<{ backend: QueueBackend; opened?: TestDatabase }>;
}

const backends: Backend[] = [
  ...engines().map((engine) => ({
    name: engine.name,
    async open() {
      const opened = await engine.open();
      return { backend: postgresQueues(opened.database, silent), opened };
    },
  })),
  ...(redisUrl
    ? [{ name: 'Redis', open: async () => ({ backend: await openRedisQueues(await emptyRedis(), silent) }) }]
    : []),
];

/** Resolves when it was called so often. */
function times(count: number): { done: Promise<void>; one(): void } {
  let left = count;
  let resolve: () => void = () => undefined;
  const done = new Promise<void>((fulfil) => {
    resolve = fulfil;
  });
  return {
    done,
    one() {
      left -= 1;
      if (left === 0) resolve();
    },
  };
}

describe.each(backends)('queues on $name', ({ name, open }) => {
  let backend: QueueBackend;
  let opened: TestDatabase | undefined;
  beforeAll(async () => {
    ({ backend, opened } = await open());
  });
  afterAll(async () => {
    await backend.close();
    await opened?.close();
  });

  it('say where they are, answer, and keep what they have answered for', async () => {
    expect(backend.engine).toBe(name);
    await expect(backend.ping()).resolves.toBeUndefined();
    await backend.queue('durable').add('job', {});
    await expect(backend.confirmDurable()).resolves.toBeUndefined();
  });

  it('bring every job to a worker, with its data', async () => {
    const { done, one } = times(20);
    const seen: number[] = [];
    backend.worker('plain', async (job) => {
      seen.push(job.data.n);
      one();
    });
    await backend.queue('plain').addBulk(Array.from({ length: 20 }, (_, n) => ({ name: 'job', data: { n } })));
    await done;
    expect(seen.sort((left, right) => left - right)).toEqual(Array.from({ length: 20 }, (_, n) => n));
  });

  it('take a job of the same id once', async () => {
    const queue = backend.queue('ids');
    await queue.add('job', { n: 1 }, { jobId: 'abc' });
    await queue.add('job', { n: 2 }, { jobId: 'abc' });
    expect(await queue.getWaitingCount()).toBe(1);
    expect((await queue.getJob('abc'))?.data).toEqual({ n: 1 });
  });

  it('try a failing job again, as often as it was told to', async () => {
    const { done, one } = times(3);
    backend.worker('failing', async (job) => {
      one();
      if (job.attemptsMade < 2) throw new Error('not yet');
    });
    await backend.queue('failing').add('job', {}, { attempts: 5, backoff: 10 });
    await done;
  });

  it('run a deduplicated job once more when it is added while it runs', async () => {
    const options = { deduplication: { id: 'log', keepLastIfActive: true }, removeOnComplete: true };
    const queue = backend.queue('once-more');
    const first = times(1);
    const second = times(2);
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const seen: number[] = [];
    backend.worker('once-more', async (job) => {
      seen.push(job.data.n);
      first.one();
      second.one();
      if (seen.length === 1) await held;
    });
    await queue.add('job', { n: 1 }, options);
    await first.done;
    await queue.add('job', { n: 2 }, options);
    await queue.add('job', { n: 3 }, options);
    release();
    await second.done;
    expect(seen).toEqual([1, 3]);
  });

  it('are one object for one name', () => {
    expect(backend.queue('same')).toBe(backend.queue('same'));
  });
});

describe.each(engines())('the queue in %s', (engine) => {
  it('works under the role of the service, beside transactions', async () => {
    const opened = await engine.open();
    const backend = postgresQueues(opened.database, silent);
    const { rows } = await opened.database.queuePool.query('SELECT current_user AS role');
    expect(rows).toEqual([{ role: 'vcon_archivist_service' }]);
    const { done, one } = times(30);
    backend.worker(
      'beside',
      async () => {
        await opened.database.inTransaction('system', (tx) => tx.query('SELECT count(*) FROM archivist.tenancy'));
        one();
      },
      { concurrency: 8 },
    );
    await Promise.all(
      Array.from({ length: 30 }, async (_, n) => {
        await opened.database.inTransaction('system', (tx) => tx.query('SELECT 1'));
        await backend.queue('beside').add('job', { n });
      }),
    );
    await done;
    await backend.close();
    await opened.close();
  });
});

describe('Redis queues', () => {
  it('do not open on a Redis that is not there, and leave nothing open', async () => {
    await expect(openRedisQueues('redis://127.0.0.1:1', silent)).rejects.toThrow('REDIS_URL cannot be reached');
  });
});

describe.skipIf(!hasRedis())('Redis queues whose Redis went away', () => {
  it('close when the jobs in progress have ended, and wait for nothing else', async () => {
    const folder = await mkdtemp(join(inject('runFolder'), 'queue-'));
    try {
      const redis = await privateRedis(join(folder, 'redis'));
      const backend = await openRedisQueues(redis.url, silent);
      let [begun, done] = [false, false];
      let finish: () => void = () => undefined;
      const worker = backend.worker('slow', async () => {
        begun = true;
        await new Promise<void>((resolve) => {
          finish = resolve;
        });
        done = true;
      });
      backend.worker('idle', async () => undefined);
      await backend.queue('slow').add('job', {});
      await eventually(() => begun);
      await redis.close();
      await wait(SPOILED_MS);
      let closed = false;
      const closing = worker.close().then(() => {
        closed = true;
      });
      await wait(SPOILED_MS);
      expect([closed, done]).toEqual([false, false]);
      finish();
      await closing;
      expect(done).toBe(true);
      await backend.close();
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

describe.skipIf(!redisUrl)('a worker of Redis that closes', () => {
  it('waits for its running job, however long that takes', async () => {
    const backend = await openRedisQueues(await emptyRedis(), silent);
    let [begun, done] = [false, false];
    const worker = backend.worker('long', async () => {
      begun = true;
      await wait(LONGER_THAN_STORING_MS);
      done = true;
    });
    const job = await backend.queue('long').add('job', {});
    await eventually(() => begun);
    await worker.close();
    expect([done, await job.getState()]).toEqual([true, 'completed']);
    await backend.close();
  });

  it('closes, although its connection was cut a moment ago', async () => {
    const url = await emptyRedis();
    const connection = new Redis(url, { maxRetriesPerRequest: null, retryStrategy: () => NEVER_MS });
    const place = {
      open: (process: Processor) => new Worker('cut', process, { connection }),
      isReady: () => connection.status === 'ready',
    };
    const worker = keepWorker('cut', async () => undefined, place, silent);
    // No other worker waits for jobs in this database: each test process has its own.
    const database = new RegExp(`^id=(\\d+) .* db=${connection.options.db} .* cmd=bzpopmin `, 'm');
    const id = async () => database.exec(String(await connection.client('LIST')))?.[1];
    await expect.poll(id).toBeDefined();
    await connection.client('KILL', 'ID', (await id())!);
    await expect.poll(id).toBeUndefined();
    await worker.close();
    connection.disconnect();
  });
});

describe.skipIf(!hasRedis())('Redis queues whose Redis takes seconds to answer', () => {
  it('open, and from then on give a command up that callers wait for', async () => {
    const folder = await mkdtemp(join(inject('runFolder'), 'queue-'));
    const redis = await privateRedis(join(folder, 'redis'));
    const pause = (ms: number) => redisCommand(redis.url, (client) => client.call('CLIENT', 'PAUSE', ms));
    try {
      await pause(2_000);
      const backend = await openRedisQueues(redis.url, silent);
      await backend.ping();
      await pause(60_000);
      await expect(backend.ping()).rejects.toThrow('Command timed out');
      await backend.close();
    } finally {
      await redis.close();
      await rm(folder, { recursive: true, force: true });
    }
  });
});

describe.skipIf(!hasRedis())('Redis queues whose Redis does not say how it persists', () => {
  it('do not open, and leave no connection that would keep the process alive', async () => {
    const folder = await mkdtemp(join(inject('runFolder'), 'queue-'));
    const redis = await privateRedis(join(folder, 'redis'));
    const ask = (...command: [string, ...string[]]) => redisCommand(redis.url, (client) => client.call(...command));
    try {
      await ask('ACL', 'SETUSER', 'limited', 'on', '>secret', '~*', '&*', '+@all', '-info');
      const url = Object.assign(new URL(redis.url), { username: 'limited', password: 'secret' });
      await expect(openRedisQueues(url.href, silent)).rejects.toThrow('info');
      await expect.poll(() => ask('CLIENT', 'LIST')).not.toContain('user=limited');
    } finally {
      await redis.close();
      await rm(folder, { recursive: true, force: true });
    }
  });
});

describe.skipIf(!redisUrl)('Redis queues of which one connection fails', () => {
  it('do not open, and close the other connection', async () => {
    const { hostname, port } = new URL(redisUrl!);
    const open = new Set<Socket>();
    let count = 0;
    const way = createServer((client) => {
      count += 1;
      if (count > 1) return void client.destroy();
      const server = connect(Number(port), hostname);
      open.add(client);
      client.pipe(server).pipe(client);
      for (const each of [client, server]) each.on('error', () => undefined);
      client.once('close', () => {
        open.delete(client);
        server.destroy();
      });
    });
    await once(way.listen(0, '127.0.0.1'), 'listening');
    try {
      const url = `redis://127.0.0.1:${(way.address() as AddressInfo).port}`;
      await expect(openRedisQueues(url, silent)).rejects.toThrow('the Redis of REDIS_URL cannot be reached');
      expect(count).toBe(2);
      await eventually(() => open.size === 0, 5_000);
    } finally {
      for (const each of open) each.destroy();
      way.close();
    }
  });
});

describe.skipIf(!redisUrl)('Redis queues that are opened while the way to Redis is spoiled', () => {
  let redis: URL;
  beforeAll(async () => {
    redis = new URL(await emptyRedis());
  });

  it.concurrent.each(SPOILED)(
    '(%s) work when it is well, without being opened again',
    async (way) => {
      const proxy = await startTcpProxy({ host: redis.hostname, port: Number(redis.port) });
      const url = new URL(redis);
      url.host = `127.0.0.1:${proxy.port}`;
      const backend = await openRedisQueues(url.href, silent);
      const name = `early-${way}`;
      const added = () =>
        backend
          .queue(name)
          .add('job', {}, { jobId: 'once' })
          .then(
            () => true,
            () => false,
          );
      proxy.become(way);
      const { done, one } = times(1);
      const worker = backend.worker(name, async () => one());
      expect(await added()).toBe(way === 'delay');
      await wait(SPOILED_MS);
      proxy.become('well');
      await eventually(added);
      await done;
      await worker.close();
      await backend.close();
      await proxy.close();
    },
    60_000,
  );
});
