import { type ActTurns, createActTurns } from '../iam/security/act-turns.js';
import { openRefusedActs, type RefusedActs } from '../iam/security/refused-acts.js';
import { type Failpoints, killingFailpoints } from '../ledger/failpoints.js';
import { type Clock, systemClock } from '../platform/clock.js';
import type { ClockWatch } from '../platform/clock-watch.js';
import type { Closers } from '../platform/close-all.js';
import type { DiskUse } from '../platform/disk/disk-full.js';
import type { DiskWatch } from '../platform/disk/disk-watch.js';
import { watchedObjectStore } from '../platform/disk/watched-object-store.js';
import { explained } from '../platform/explain-failure.js';
import { createIds, type Ids } from '../platform/ids.js';
import { manifestObjectKey } from '../platform/keys/manifest/manifest-objects.js';
import type { newKeyPairApart } from '../platform/keys/new-key-pair.js';
import { openKeyStore } from '../platform/keys/open-key-store.js';
import { createLogger, type Logger } from '../platform/logger.js';
import { markedObjectStore } from '../platform/marked-object-store.js';
import type { ObjectStore } from '../platform/object-store.js';
import { openObjectStore, prepareFolder, prepareObjectStore } from '../platform/open-object-store.js';
import { createOutsideCalls, type OutsideCalls } from '../platform/outside-calls.js';
import type { Database } from '../platform/postgres/database.js';
import { openDatabase } from '../platform/postgres/open-database.js';
import type { PooledDatabase } from '../platform/postgres/pooled-database.js';
import { openRedisQueues, postgresQueues } from '../platform/queue/open-queue-backend.js';
import type { QueueBackend } from '../platform/queue/queue-backend.js';
import { timedObjectStore } from '../platform/timed-object-store.js';
import type { BaseSettings } from './base-settings.js';
import type { openLedgerThread } from './ledger-thread.js';
import { createMetrics, type Metrics } from './metrics.js';
import { type OpenDeployment, openDeployment } from './open-deployment.js';
import { serviceClock, watchClock } from './watch-clock.js';
import { watchDisks } from './watch-disks.js';

/** What a process, or a test, passes in instead of the default. */
export interface ServiceOverrides {
  readonly clock?: Clock;
  readonly logger?: Logger;
  readonly failpoints?: Failpoints;
  /** Makes the pairs of keys in files. */
  readonly newKeyPair?: typeof newKeyPairApart;
  /** Milliseconds of a clock that never jumps, by which the disks are watched. */
  readonly diskNow?: () => number;
  /** Called when a write of this ledger has found no room. */
  readonly diskReported?: (use: DiskUse) => void;
  /** Runs the ledger in a thread when this process has all roles and the database allows several connections. */
  readonly openLedgerThread?: typeof openLedgerThread;
}

/** What every role depends on. */
export interface Base extends OpenDeployment {
  /** May be wrong: what is signed or accepted takes its time from `clockWatch`. */
  readonly clock: Clock;
  readonly clockWatch: ClockWatch;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly failpoints: Failpoints;
  readonly database: Database;
  readonly backend: QueueBackend;
  /** Not started yet. */
  readonly disk: DiskWatch;
  readonly objectStore: ObjectStore;
  readonly outside: OutsideCalls;
  readonly refusedActs: RefusedActs;
  readonly actTurns: ActTurns;
}

/** @throws {Error} with a readable message; `closers` then close what was opened */
export async function openBase(config: BaseSettings, overrides: ServiceOverrides, closers: Closers): Promise<Base> {
  const clock = overrides.clock ?? systemClock;
  const logger = overrides.logger ?? createLogger(config.logLevel, { format: config.logFormat });
  const ids = createIds(clock);
  await explained('DATA_DIR cannot be used', prepareFolder(config.dataDir));
  const metrics = createMetrics();
  const clockWatch = serviceClock(clock, logger, metrics.clockCompared);
  const outside = createOutsideCalls({
    now: () => clock.now(),
    logger,
    failed: metrics.outsideFailed,
    changed: metrics.outsideChanged,
  });
  let queues: QueueBackend | undefined;
  const disk = watchDisks(config, {
    logger,
    queueIsFull: async () => queues?.isFull() ?? false,
    looked: metrics.disks,
    reported: overrides.diskReported,
    now: overrides.diskNow,
  });
  closers.push(() => disk.close());
  const database = await openDatabase(config, logger, { disk });
  closers.push(() => database.close());
  // Before anything is made: the first start signs the key manifest and dates the first rows.
  const watchedClock = await watchClock({ database, clock, clockWatch, logger });
  closers.push(() => watchedClock.close());
  const queueBackend = await openQueues(config, database, logger);
  queues = queueBackend;
  closers.push(() => queueBackend.close());
  await explained('KEYS_DIR cannot be used', prepareFolder(config.keysDir));
  await explained('OBJECT_STORE_URL cannot be used', prepareObjectStore(config.objectStore));
  const keys = await openKeyStore(config, logger, outside, overrides.newKeyPair);
  closers.push(() => keys.close());
  const deployment = { config, database, clock: clockWatch.right, ids, keys };
  const kill = () => process.kill(process.pid, 'SIGKILL');
  return {
    clock,
    clockWatch,
    ids,
    logger,
    metrics,
    failpoints: overrides.failpoints ?? killingFailpoints(config.failpoint, kill),
    database,
    backend: queueBackend,
    disk,
    outside,
    refusedActs: openRefusedActs(logger),
    actTurns: createActTurns(),
    ...(await openWithObjects(deployment, outside, disk)),
  };
}

/** Opens the deployment and its object store, which is known by the key manifest that each process has stored there. */
async function openWithObjects(
  parts: Omit<Parameters<typeof openDeployment>[0], 'objectStore' | 'config'> & { readonly config: BaseSettings },
  outside: OutsideCalls,
  disk: DiskWatch,
): Promise<OpenDeployment & Pick<Base, 'objectStore'>> {
  let mark: string | undefined;
  const objects = markedObjectStore(await openObjectStore(parts.config.objectStore), () => mark);
  const objectStore = watchedObjectStore(timedObjectStore(objects, outside), disk);
  const opened = await openDeployment({ ...parts, objectStore });
  const { subject, number } = opened.manifests.current.manifest;
  mark = manifestObjectKey(subject, number);
  return { ...opened, objectStore };
}

async function openQueues(
  { redisUrl }: Pick<BaseSettings, 'redisUrl'>,
  database: PooledDatabase,
  logger: Logger,
): Promise<QueueBackend> {
  return redisUrl ? openRedisQueues(redisUrl, logger) : postgresQueues(database, logger);
}
