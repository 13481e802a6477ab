import { randomInt } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Redis } from 'ioredis';
import { Registry } from 'prom-client';
import type { Clock } from '../../src/platform/clock.js';
import type { DiskWatch } from '../../src/platform/disk/disk-watch.js';
import type { Logger } from '../../src/platform/logger.js';
import type { QueueBackend } from '../../src/platform/queue/queue-backend.js';
import { REDIS_OPTIONS } from '../../src/platform/queue/redis-options.js';
import { runWhileRight } from '../../src/platform/queue/run-while-right.js';
import { archivistClients } from '../archivist-client/archivist-clients.js';
import type { RetryPace } from '../archivist-client/retry-delay.js';
import { watchSecretExpiry } from '../archivist-client/secret-expiry.js';
import { createOperationMetrics } from '../capture/capture-metrics.js';
import { type CaptureOperation, createCapture } from '../capture/capture-operation.js';
import { captureOrSpool } from '../capture/capture-or-spool.js';
import { captureRoom, registerRoomMetrics } from '../capture/capture-room.js';
import { openSpool } from '../capture/spool.js';
import { spoolFolder, spoolState } from '../capture/spool-folder.js';
import { registerSpoolMetrics } from '../capture/spool-metrics.js';
import { deliveryState, registerDeliveryMetrics } from '../delivery/delivery-metrics.js';
import { startDelivery } from '../delivery/delivery-worker.js';
import { type MemoryPlace, openMemory, openPassages, pluginFolder } from '../memory/open-memory.js';
import { createCaptureSequence } from '../operation/capture-sequence.js';
import { vconFacts } from '../operation/vcon-facts.js';
import type { ReceiptPlaces } from '../receipts/publish-receipt.js';
import { startReceiptWorker } from '../receipts/receipt-worker.js';
import type { BodyLimits } from '../receiver/read-body.js';
import { type ReceiverTls, startReceiver } from '../receiver/receiver.js';
import { startCaptureReport } from '../report/start-capture-report.js';
import { checkPluginSettings, type PluginSettings, readTenancies } from '../settings/plugin-settings.js';
import { admitOperations, labelSecretOf } from './admit-operation.js';
import { type Closable, startCaptureMethods } from './start-capture-methods.js';

interface ConserverLinkParts {
  readonly settings: PluginSettings;
  /** Where the plugin remembers what is not in its queue. */
  readonly keeps: MemoryPlace;
  /** Closed by the caller, after the plugin. */
  readonly backend: QueueBackend;
  /** Watches the disks of the queue and of the spool. Started and closed by the caller. */
  readonly disk: DiskWatch;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Whether something contradicts the clock; by default nothing does. */
  readonly clockIsWrong?: () => boolean;
  /** The registry of the plugin's metrics; by default one of its own. */
  readonly registry?: Registry;
  /** True if another port serves the registry, or a token guards it: then the receiver has no `/metrics`. */
  readonly metricsElsewhere?: boolean;
  /** In [0, 1): spreads retries. */
  readonly random?: () => number;
  readonly pace?: RetryPace;
  readonly bodyLimits?: BodyLimits;
}

export interface ConserverLink {
  /** URL of the receiver. */
  readonly url: string;
  /** Accepts nothing new, then finishes running deliveries; undelivered operations stay in the queue. */
  close(): Promise<void>;
}

const RANDOM_STEPS = 2 ** 32;
/** Where receipts are sent, and the Redis connection for it; undefined when receipts are not fetched. */
function receiptPlaces(settings: PluginSettings, logger: Logger): (ReceiptPlaces & Closable) | undefined {
  if (!settings.receipts) return undefined;
  const { receiptUrl: url, receiptKey: key, receiptDays: days = 90, conserverRedisUrl } = settings;
  const redis =
    key && conserverRedisUrl ? new Redis(conserverRedisUrl, { ...REDIS_OPTIONS, maxRetriesPerRequest: 1 }) : undefined;
  redis?.on('error', (error) => logger.warn({ err: error }, 'the Redis of CONSERVER_REDIS_URL does not answer'));
  return { url, key, days, redis, close: async () => redis?.disconnect() };
}

async function readTls(tls: PluginSettings['tls']): Promise<ReceiverTls | undefined> {
  if (!tls) return undefined;
  const [cert, key, ca] = await Promise.all([
    readFile(tls.certFile, 'utf8'),
    readFile(tls.keyFile, 'utf8'),
    tls.clientCaFile ? readFile(tls.clientCaFile, 'utf8') : undefined,
  ]);
  return { cert, key, ca };
}

/**
 * Starts every capture method, all with the same queue, and the worker that delivers from it to the service.
 * @throws {PluginSettingsError} when the settings are invalid
 */
export async function startConserverLink(parts: ConserverLinkParts): Promise<ConserverLink> {
  const { backend, disk, logger, clock, registry = new Registry() } = parts;
  const { clockIsWrong = () => false } = parts;
  const { random = () => randomInt(RANDOM_STEPS) / RANDOM_STEPS, pace, bodyLimits } = parts;
  const settings = checkPluginSettings(parts.settings);
  const tenancies = await readTenancies(settings.tenanciesFile);
  const tls = await readTls(settings.tls);
  const metrics = createOperationMetrics(registry);
  const rightMs = () => (clockIsWrong() ? Number.NaN : clock.now());
  registerDeliveryMetrics(registry, () => deliveryState(backend, rightMs()));

  const started: Closable[] = [];
  const closeAll = async (): Promise<void> => {
    for (let each = started.pop(); each; each = started.pop()) await each.close();
  };
  try {
    const memory = openMemory(parts.keeps, logger, () => (clockIsWrong() ? Number.NaN : Date.now()));
    started.push(memory);
    const { conserverRedisUrl: url, tapList: list } = settings;
    const passages = url && list ? openPassages(memory, backend, { url, list }, logger) : undefined;
    if (passages && passages !== memory) started.push(passages);
    const withdrawn = new Set<string>();
    const room = captureRoom(disk, backend, settings.failOpen === true);
    let conserverAheadMs: number | undefined;
    const capturing = createCapture({
      backend,
      memory,
      withdrawn,
      logger,
      counted: metrics.captured,
      doubled: metrics.doubled,
      passages,
      conserverAheadMs: () => conserverAheadMs,
    });
    const capture: CaptureOperation = async (...captured) => {
      room.requireInQueue();
      return capturing(...captured);
    };
    const labelSecret = labelSecretOf(settings, tenancies);
    const admit = (each: CaptureOperation) => admitOperations(each, labelSecret);
    const clients = archivistClients(settings, tenancies, clock, watchSecretExpiry({ registry, clock, logger }));
    const whileRight = (start: () => Promise<Closable>) => runWhileRight([{ start }], { clockIsWrong, logger });
    const common = { backend, clients, logger, random, metrics, clock, clockIsWrong, ...(pace ? { pace } : {}) };
    const places = receiptPlaces(settings, logger);
    if (places) started.push(places, await whileRight(async () => startReceiptWorker({ ...common, memory, places })));
    const delivery = { ...common, receipts: places !== undefined, bulk: settings.bulk === true, withdrawn };
    started.push(await whileRight(async () => startDelivery(delivery)));
    // Regardless of the current setting: an earlier start may have left operations on the local disk.
    const folder = spoolFolder(pluginFolder(parts.keeps.dataDir));
    const spool = openSpool(folder, capture, disk, logger);
    started.push(spool);
    registerSpoolMetrics(registry, () => spoolState(folder, rightMs()));
    registerRoomMetrics(registry, room);
    const observe = createCaptureSequence(clock, clockIsWrong);
    if (settings.reports)
      started.push(
        await whileRight(() =>
          startCaptureReport({ ...common, memory, passages: passages ?? memory, tenancies: [...tenancies.keys()] }),
        ),
      );
    const everyClient = [undefined, ...tenancies.keys()].map(clients);
    const eventsAbout = async (uuid: string) =>
      (await Promise.all(everyClient.map((client) => client.eventsAbout(`vcon://${uuid}`)))).flat();
    await startCaptureMethods(
      {
        ...{ settings, backend, memory, passages, capture: admit(capture), eventsAbout, labelSecret },
        ...{ metrics, logger, clock, clockIsWrong, observe, whileRight },
        aheadMs(ms) {
          conserverAheadMs = ms;
        },
      },
      started,
    );
    const keep = admit(settings.failOpen ? captureOrSpool(capture, spool, logger) : capture);
    const receiver = await startReceiver({
      host: settings.host,
      port: settings.port,
      secret: settings.secret,
      tls,
      registry: parts.metricsElsewhere ? undefined : registry,
      logger,
      async capture(operation, bytes, window) {
        const observed = observe();
        return keep({ operation, vcon: await vconFacts(bytes), method: 'receiver', observed }, window);
      },
      async ping() {
        room.requireSomewhere();
        if (!room.full().includes('queue')) await backend.ping();
      },
      counted: metrics.reported,
      drainMs: (settings.drainSeconds ?? 0) * 1_000,
      ...(bodyLimits ? { limits: bodyLimits } : {}),
    });
    started.push(receiver);
    return { url: receiver.url, close: closeAll };
  } catch (error) {
    await closeAll();
    throw error;
  }
}
