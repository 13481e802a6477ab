import {
  createPostgresBackend,
  type Job,
  Queue,
  type QueueOptions,
  Worker,
  type WorkerOptions,
  withBackend,
} from 'bullmq';
import { Redis } from 'ioredis';
import type pg from 'pg';
import type { Logger } from '../logger.js';
import type { PooledDatabase } from '../postgres/pooled-database.js';
import type { QueueBackend } from './queue-backend.js';
import { redisDurability } from './redis-durability.js';

/** One hash slot for all keys of ours: Redis Cluster runs the queue's scripts only within one. */
const REDIS_PREFIX = '{vcon-archivist}';

interface Engine {
  readonly engine: QueueBackend['engine'];
  newQueue(name: string): Queue;
  newWorker(name: string, processor: (job: Job) => Promise<unknown>, options: Partial<WorkerOptions>): Worker;
  confirmDurable(): Promise<void>;
  ping(): Promise<void>;
  disconnect(): Promise<void>;
}

/** BullMQ on the Redis of this URL. @throws when it cannot be reached */
export async function openRedisQueues(url: string, logger: Logger): Promise<QueueBackend> {
  // A worker's blocking commands wait for ever; everything else gives up, so that a refusal comes in time.
  const connection = new Redis(url, { maxRetriesPerRequest: 1, commandTimeout: 1_500, lazyConnect: true });
  const blocking = new Redis(url, { maxRetriesPerRequest: null, lazyConnect: true });
  for (const each of [connection, blocking]) each.on('error', (error) => logger.warn({ err: error }, 'Redis'));
  await Promise.all([connection.connect(), blocking.connect()]);
  const options = { prefix: REDIS_PREFIX };
  return queueBackend(
    {
      engine: 'Redis',
      newQueue: (name) => new Queue(name, { ...options, connection }),
      newWorker: (name, processor, extra) =>
        new Worker(name, processor, { ...options, ...extra, connection: blocking }),
      confirmDurable: await redisDurability(connection, logger),
      ping: async () => {
        await connection.ping();
      },
      async disconnect() {
        connection.disconnect();
        blocking.disconnect();
      },
    },
    logger,
  );
}

/** BullMQ in the database, whose commits are durable. */
export function postgresQueues(database: PooledDatabase, logger: Logger): QueueBackend {
  const classes = withBackend(createPostgresBackend);
  const connection: pg.Pool = database.queuePool;
  type Options = QueueOptions<Parameters<typeof createPostgresBackend>[0]>;
  return queueBackend(
    {
      engine: database.engine,
      newQueue: (name) => new classes.Queue(name, { connection } as unknown as Options & never) as unknown as Queue,
      newWorker: (name, processor, extra) =>
        new classes.Worker(name, processor as never, { ...extra, connection } as never) as unknown as Worker,
      confirmDurable: async () => {
        const { rows } = await connection.query<{ setting: string }>(
          "SELECT current_setting('synchronous_commit') AS setting",
        );
        if (rows[0]?.setting === 'off')
          throw new Error('synchronous_commit is off: a commit may be lost with the power');
      },
      ping: async () => {
        await connection.query('SELECT 1');
      },
      disconnect: async () => undefined,
    },
    logger,
  );
}

function queueBackend(engine: Engine, logger: Logger): QueueBackend {
  const queues = new Map<string, Queue>();
  const workers = new Set<Worker>();
  return {
    engine: engine.engine,
    queue(name) {
      const known = queues.get(name);
      if (known) return known;
      const queue = engine.newQueue(name);
      queue.on('error', (error) => logger.warn({ err: error, queue: name }, 'the queue'));
      queues.set(name, queue);
      return queue;
    },
    worker(name, processor, options = {}) {
      const worker = engine.newWorker(name, processor, options);
      worker.on('error', (error) => logger.warn({ err: error, queue: name }, 'a worker of the queue'));
      workers.add(worker);
      return worker;
    },
    confirmDurable: () => engine.confirmDurable(),
    ping: () => engine.ping(),
    async close() {
      await Promise.allSettled([...workers].map((worker) => worker.close()));
      await Promise.allSettled([...queues.values()].map((queue) => queue.close()));
      await engine.disconnect();
    },
  };
}
