import { randomInt } from 'node:crypto';
import { Registry } from 'prom-client';
import type { Clock } from '../../src/platform/clock.js';
import { closeAll } from '../../src/platform/close-all.js';
import type { DiskWatch } from '../../src/platform/disk/disk-watch.js';
import type { Logger } from '../../src/platform/logger.js';
import type { QueueBackend } from '../../src/platform/queue/queue-backend.js';
import { runWhileRight } from '../../src/platform/queue/run-while-right.js';
import { archivistClients } from '../archivist-client/archivist-clients.js';
import type { RetryPace } from '../archivist-client/retry-delay.js';
import { watchSecretExpiry } from '../archivist-client/secret-expiry.js';
import { createOperationMetrics } from '../capture/capture-metrics.js';
import type { CaptureOperation } from '../capture/capture-operation.js';
import { captureOrSpool } from '../capture/capture-or-spool.js';
import { captureRoom, registerRoomMetrics } from '../capture/capture-room.js';
import { openSpool } from '../capture/spool.js';
import { spoolFolder, spoolState } from '../capture/spool-folder.js';
import { registerSpoolMetrics } from '../capture/spool-metrics.js';
import { deliveryState, registerDeliveryMetrics } from '../delivery/delivery-metrics.js';
import { type MemoryPlace, openMemory, openPassages, pluginFolder, reportingMemory } from '../memory/open-memory.js';
import { createCaptureSequence } from '../operation/capture-sequence.js';
import type { BodyLimits } from '../receiver/read-body.js';
import type { ReceiverTls } from '../receiver/receiver.js';
import { startCaptureReport } from '../report/start-capture-report.js';
import {
  type ClientCredentials,
  checkPluginSettings,
  type PluginSettings,
  readTenancies,
} from '../settings/plugin-settings.js';
import { admitOperations, labelSecretOf } from './admit-operation.js';
import { queueCapture } from './queue-capture.js';
import { readReceiverTls } from './read-receiver-tls.js';
import { type Closable, startCaptureMethods } from './start-capture-methods.js';
import { startDelivering } from './start-delivering.js';
import { startLinkReceiver } from './start-link-receiver.js';

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

/**
 * Starts every capture method, all with the same queue, and the worker that delivers from it to the service.
 * @throws {PluginSettingsError} when the settings are invalid
 */
export async function startConserverLink(parts: ConserverLinkParts): Promise<ConserverLink> {
  const settings = checkPluginSettings(parts.settings);
  const tenancies = await readTenancies(settings.tenanciesFile);
  const tls = await readReceiverTls(settings.tls);
  const started: Closable[] = [];
  const close = (): Promise<void> => closeAll(started.splice(0).map((each) => () => each.close()));
  try {
    const url = await startAll({ ...parts, settings }, { tenancies, tls }, started);
    return { url, close };
  } catch (error) {
    await close().catch((err: unknown) => parts.logger.warn({ err }, 'a part of the plugin could not be closed'));
    throw error;
  }
}

/** What the files that the settings name contain. */
interface Files {
  readonly tenancies: ReadonlyMap<string, ClientCredentials>;
  readonly tls: ReceiverTls | undefined;
}

/**
 * Starts all parts of the plugin, the receiver last.
 * @param started receives each part that runs, so that a failure half-way can close them
 * @returns the URL of the receiver
 */
async function startAll(parts: ConserverLinkParts, { tenancies, tls }: Files, started: Closable[]): Promise<string> {
  const { settings, backend, disk, logger, clock, registry = new Registry(), pace } = parts;
  const { clockIsWrong = () => false, random = () => randomInt(RANDOM_STEPS) / RANDOM_STEPS } = parts;
  const metrics = createOperationMetrics(registry);
  const rightMs = () => (clockIsWrong() ? Number.NaN : clock.now());
  registerDeliveryMetrics(registry, () => deliveryState(backend, rightMs()));

  const opened = openMemory(parts.keeps, logger, () => (clockIsWrong() ? Number.NaN : Date.now()));
  const memory = reportingMemory(opened, disk);
  started.push(memory);
  const { conserverRedisUrl: url, tapList: list } = settings;
  const passages = url && list ? openPassages(memory, backend, { url, list }, logger) : undefined;
  if (passages && passages !== memory) started.push(passages);

  const room = captureRoom(disk, backend, {
    spools: settings.failOpen === true,
    remembersHere: parts.keeps.redisUrl === undefined,
  });
  const queueing = queueCapture({ backend, memory, passages, room, metrics, logger });
  const { capture, afterCaptures, withdrawn, aheadMs } = queueing;

  const clients = archivistClients(settings, tenancies, clock, watchSecretExpiry({ registry, clock, logger }));
  const whileRight = (start: () => Promise<Closable>) => runWhileRight([{ start }], { clockIsWrong, logger });
  const common = { settings, backend, memory, clients, metrics, clock, clockIsWrong, logger, whileRight };
  await startDelivering({ ...common, withdrawn, random, ...(pace ? { pace } : {}) }, started);

  // Regardless of the current setting: an earlier start may have left operations on the local disk.
  const folder = spoolFolder(pluginFolder(parts.keeps.dataDir));
  const spool = openSpool(folder, capture, disk, logger);
  started.push(spool);
  registerSpoolMetrics(registry, () => spoolState(folder, rightMs()));
  registerRoomMetrics(registry, room);

  const observe = createCaptureSequence(clock, clockIsWrong);
  const reporting = { ...common, passages: passages ?? memory, tenancies: [...tenancies.keys()] };
  if (settings.reports) started.push(await whileRight(() => startCaptureReport(reporting)));
  const everyClient = [undefined, ...tenancies.keys()].map(clients);
  const eventsAbout = async (uuid: string) =>
    (await Promise.all(everyClient.map((client) => client.eventsAbout(`vcon://${uuid}`)))).flat();
  const labelSecret = labelSecretOf(settings, tenancies);
  const admit = (each: CaptureOperation) => admitOperations(each, labelSecret);
  const capturing = { capture: admit(capture), afterCaptures, spool, observe, aheadMs };
  await startCaptureMethods({ ...common, ...capturing, passages, eventsAbout, labelSecret }, started);

  // Closed before what captures the stream: that may wait until a capture of the receiver is remembered.
  started.push(queueing);
  const receiver = await startLinkReceiver({
    ...{ ...common, tls, room, bodyLimits: parts.bodyLimits, observe },
    registry: parts.metricsElsewhere ? undefined : registry,
    capture: admit(settings.failOpen ? captureOrSpool(capture, spool, logger) : capture),
  });
  started.push(receiver);
  return receiver.url;
}
