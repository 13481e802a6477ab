import { createPostgresBackend, Queue, type QueueOptions, Worker, type WorkerOptions, withBackend } from 'bullmq';
import { Redis } from 'ioredis';
import type pg from 'pg';
import { failureReason } from '../explain-failure.js';
import type { Logger } from '../logger.js';
import { requireDurableCommits } from '../postgres/durable-commits.js';
import type { PooledDatabase } from '../postgres/pooled-database.js';
import { keepSchedule } from './keep-schedule.js';
import { keepWorker } from './keep-worker.js';
import type { Processor, QueueBackend, QueueWorker } from './queue-backend.js';
import { redisDurability } from './redis-durability.js';
import { REDIS_OPTIONS } from './redis-options.js';
import { redisIsFull } from './redis-room.js';

/** One hash slot for all our keys: Redis Cluster runs the queue's scripts only within one. */
const REDIS_PREFIX = '{vcon-archivist}';

interface Engine {
  readonly engine: QueueBackend['engine'];
  newQueue(name: string): Queue;
  newWorker(name: string, processor: Processor, options: Partial<WorkerOptions>): Worker;
  /** Whether the workers can reach the store now. */
  isReady(): boolean;
  confirmDurable(): Promise<void>;
  isFull(): Promise<boolean>;
  ping(): Promise<void>;
  disconnect(): Promise<void>;
}

/** Timeout of commands; a receiver that depends on them must itself respond within two seconds. */
const COMMAND_TIMEOUT_MS = 1_500;
/** While nobody depends on them, at the start, which holds its own process up as well. */
const FIRST_COMMANDS_TIMEOUT_MS = 10_000;

/** How long a command may wait for a Redis that does not answer. */
interface Patience {
  readonly maxRetriesPerRequest: number | null;
  readonly commandTimeout?: number;
}

interface Connection {
  readonly redis: Redis;
  /** Why there is no connection now, if that is known: a command then says only that it came too late. */
  lost(): unknown;
}

/** A working connection, or an error with the reason. It reconnects until it is closed. */
async function connect(url: string, options: Patience, logger: Logger): Promise<Connection> {
  const redis = new Redis(url, { ...REDIS_OPTIONS, ...options, lazyConnect: true });
  let reason: unknown;
  redis.on('error', (error) => {
    reason = error;
  });
  try {
    await redis.connect();
  } catch (error) {
    redis.disconnect();
    throw new Error(`the Redis of REDIS_URL cannot be reached: ${failureReason(reason ?? error)}`, { cause: error });
  }
  redis.on('error', (error) => logger.warn({ err: error }, 'Redis does not answer'));
  redis.on('ready', () => {
    reason = undefined;
  });
  // BullMQ copies it for each worker. A copy that connects lazily gives up after its first attempt.
  redis.options.lazyConnect = false;
  return { redis, lost: () => reason };
}

/** BullMQ on the Redis of this URL. @throws when it cannot be reached */
export async function openRedisQueues(url: string, logger: Logger): Promise<QueueBackend> {
  // A worker's commands wait until Redis is back; other commands time out, so that callers are refused in time.
  const connecting = [
    connect(url, { maxRetriesPerRequest: 1, commandTimeout: FIRST_COMMANDS_TIMEOUT_MS }, logger),
    connect(url, { maxRetriesPerRequest: null }, logger),
  ] as const;
  const [{ redis: connection, lost }, { redis: blocking }] = await Promise.all(connecting).catch(async (error) => {
    for (const each of await Promise.allSettled(connecting))
      if (each.status === 'fulfilled') each.value.redis.disconnect();
    throw error;
  });
  // Every queue and every worker listens to them.
  for (const each of [connection, blocking]) each.setMaxListeners(0);
  const confirmDurable = await redisDurability(connection, logger).catch((error: unknown) => {
    // They would keep a process alive that does not start.
    for (const each of [connection, blocking]) each.disconnect();
    throw error;
  });
  connection.options.commandTimeout = COMMAND_TIMEOUT_MS;
  return queueBackend(
    {
      engine: 'Redis',
      newQueue: (name) => new Queue(name, { prefix: REDIS_PREFIX, connection }),
      newWorker: (name, processor, options) =>
        new Worker(name, processor, { ...options, prefix: REDIS_PREFIX, connection: blocking }),
      isReady: () => blocking.status === 'ready',
      confirmDurable,
      isFull: () => redisIsFull(connection),
      ping: async () => {
        await connection.ping().catch((error: unknown) => Promise.reject(lost() ?? error));
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
  // Every queue and every worker listens to it.
  connection.setMaxListeners(0);
  type Options = QueueOptions<Parameters<typeof createPostgresBackend>[0]>;
  return queueBackend(
    {
      engine: database.engine,
      newQueue: (name) => new classes.Queue(name, { connection } as unknown as Options & never) as unknown as Queue,
      newWorker: (name, processor, extra) =>
        new classes.Worker(name, processor as never, { ...extra, connection } as never) as unknown as Worker,
      isReady: () => true,
      confirmDurable: () => requireDurableCommits(connection),
      isFull: async () => false,
      ping: () => database.ping(),
      disconnect: async () => undefined,
    },
    logger,
  );
}

function queueBackend(engine: Engine, logger: Logger): QueueBackend {
  const queues = new Map<string, Queue>();
  const workers = new Set<QueueWorker>();
  const backend: QueueBackend = {
    engine: engine.engine,
    keepSchedule: (schedule) => keepSchedule({ backend, logger }, schedule),
    queue(name) {
      const known = queues.get(name);
      if (known) return known;
      const queue = engine.newQueue(name);
      queue.on('error', (error) => logger.warn({ err: error, queue: name }, 'a call to the queue failed'));
      queues.set(name, queue);
      // BullMQ asks the store for its version once. If that fails, so does every later call of the same object.
      queue
        .waitUntilReady()
        .catch(async () => {
          if (queues.get(name) === queue) queues.delete(name);
          await queue.close();
        })
        .catch((error: unknown) =>
          logger.debug({ err: error, queue: name }, 'a queue could not be closed after it failed to open'),
        );
      return queue;
    },
    worker(name, processor, options = {}) {
      const open = (process: Processor) => engine.newWorker(name, process, options);
      const worker = keepWorker(name, processor, { open, isReady: engine.isReady }, logger);
      workers.add(worker);
      return worker;
    },
    confirmDurable: () => engine.confirmDurable(),
    isFull: () => engine.isFull(),
    ping: () => engine.ping(),
    async close() {
      await Promise.allSettled([...workers].map((worker) => worker.close()));
      await Promise.allSettled([...queues.values()].map((queue) => queue.close()));
      await engine.disconnect();
    },
  };
  return backend;
}
