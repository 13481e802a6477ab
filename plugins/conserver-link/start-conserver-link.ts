import { randomInt } from 'node:crypto';
import { Counter, Registry } from 'prom-client';
import type { Clock } from '../../src/platform/clock.js';
import type { Logger } from '../../src/platform/logger.js';
import type { QueueBackend } from '../../src/platform/queue/queue-backend.js';
import { createArchivistClient } from '../delivery/archivist-client.js';
import { deliveryState, registerDeliveryMetrics } from '../delivery/delivery-metrics.js';
import { startDelivery } from '../delivery/delivery-worker.js';
import type { RetryPace } from '../delivery/retry-delay.js';
import { enqueueOperation } from './enqueue-operation.js';
import { operationEvent } from './operation-event.js';
import { checkPluginSettings, type PluginSettings } from './plugin-settings.js';
import type { BodyLimits } from './read-body.js';
import { startReceiver } from './receiver.js';

export interface ConserverLinkParts {
  readonly settings: PluginSettings;
  /** Closed by whoever opened it, after the plugin. */
  readonly backend: QueueBackend;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Where the plugin's metrics are shown; one of its own when left out. */
  readonly registry?: Registry;
  /** In [0, 1): spreads retries. */
  readonly random?: () => number;
  readonly pace?: RetryPace;
  readonly bodyLimits?: BodyLimits;
}

export interface ConserverLink {
  /** Of the receiver. */
  readonly url: string;
  /** Takes nothing more in, then ends the deliveries under way; what is not delivered stays in the queue. */
  close(): Promise<void>;
}

const RANDOM_STEPS = 2 ** 32;

/**
 * Starts the receiver, which keeps what a conserver reports, and the worker that delivers it to the service.
 * @throws {PluginSettingsError} when the settings do not make a plugin
 */
export async function startConserverLink(parts: ConserverLinkParts): Promise<ConserverLink> {
  const { backend, logger, clock, registry = new Registry() } = parts;
  const { random = () => randomInt(RANDOM_STEPS) / RANDOM_STEPS, pace, bodyLimits } = parts;
  const settings = checkPluginSettings(parts.settings);
  const operations = new Counter({
    name: 'conserver_link_operations_total',
    help: 'Operations that a conserver reported, by what became of them',
    labelNames: ['outcome'],
    registers: [registry],
  });
  registerDeliveryMetrics(registry, () => deliveryState(backend, clock));
  const receiver = await startReceiver({
    host: settings.host,
    port: settings.port,
    secret: settings.secret,
    registry,
    logger,
    async capture(operation, bytes) {
      const event = operationEvent(operation, bytes, clock.now());
      const job = await enqueueOperation(backend, operation, event);
      return { job, subject: event.subject, payload: event.payload };
    },
    ping: () => backend.ping(),
    counted: (outcome) => operations.inc({ outcome }),
    ...(bodyLimits ? { limits: bodyLimits } : {}),
  });
  const client = createArchivistClient({
    url: settings.archivistUrl,
    clientId: settings.clientId,
    clientSecret: settings.clientSecret,
    clock,
  });
  const delivery = startDelivery({ backend, client, logger, random, ...(pace ? { pace } : {}) });
  return {
    url: receiver.url,
    async close() {
      await receiver.close();
      await delivery.close();
    },
  };
}
