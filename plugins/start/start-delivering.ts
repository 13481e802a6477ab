import type { Clock } from '../../src/platform/clock.js';
import type { Logger } from '../../src/platform/logger.js';
import type { QueueBackend } from '../../src/platform/queue/queue-backend.js';
import type { ArchivistClients } from '../archivist-client/archivist-clients.js';
import type { RetryPace } from '../archivist-client/retry-delay.js';
import type { OperationMetrics } from '../capture/capture-metrics.js';
import { startDelivery } from '../delivery/delivery-worker.js';
import { pluginsWithoutSharedMemory, SHARE, UNSHARED } from '../delivery/unshared-memory.js';
import type { Memory } from '../memory/memory.js';
import { startReceiptWorker } from '../receipts/receipt-worker.js';
import type { PluginSettings } from '../settings/plugin-settings.js';
import { receiptPlaces } from './receipt-places.js';
import type { Closable } from './start-capture-methods.js';

/**
 * Starts the worker that delivers captured operations, and the one that fetches their receipts if the settings say so.
 * Warns if other plugins work on the queue and share no memory with this one.
 * @param started receives each part that runs, so that a failure half-way can close them
 */
export async function startDelivering(
  parts: {
    readonly settings: PluginSettings;
    readonly backend: QueueBackend;
    readonly clients: ArchivistClients;
    readonly memory: Memory;
    /** Ids of jobs whose capture was refused: they are not delivered. */
    readonly withdrawn: ReadonlySet<string>;
    readonly metrics: OperationMetrics;
    readonly clock: Clock;
    readonly clockIsWrong: () => boolean;
    readonly logger: Logger;
    readonly random: () => number;
    readonly pace?: RetryPace;
    /** Runs work of the queue while the clock is right. */
    whileRight(start: () => Promise<Closable>): Promise<Closable>;
  },
  started: Closable[],
): Promise<void> {
  const { settings, whileRight } = parts;
  const others = await pluginsWithoutSharedMemory(parts.backend).catch(() => 0);
  if (others > 0) parts.logger.warn({ others }, `other plugins work on this queue, and ${UNSHARED}; ${SHARE}`);
  const places = receiptPlaces(settings, parts.logger);
  if (places) {
    started.push(places);
    started.push(await whileRight(async () => startReceiptWorker({ ...parts, places })));
  }
  const delivery = { ...parts, receipts: places !== undefined, bulk: settings.bulk === true };
  started.push(await whileRight(async () => startDelivery(delivery)));
}
