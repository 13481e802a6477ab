import type { Registry } from 'prom-client';
import type { Clock } from '../../src/platform/clock.js';
import { followCertificate } from '../../src/platform/http/follow-certificate.js';
import type { Logger } from '../../src/platform/logger.js';
import type { QueueBackend } from '../../src/platform/queue/queue-backend.js';
import type { OperationMetrics } from '../capture/capture-metrics.js';
import type { CaptureOperation } from '../capture/capture-operation.js';
import type { CaptureRoom } from '../capture/capture-room.js';
import type { Observation } from '../operation/capture-sequence.js';
import { vconFacts } from '../operation/vcon-facts.js';
import type { BodyLimits } from '../receiver/read-body.js';
import { type ReceiverTls, startReceiver } from '../receiver/receiver.js';
import type { PluginSettings } from '../settings/plugin-settings.js';
import { readReceiverTls } from './read-receiver-tls.js';
import type { Closable } from './start-capture-methods.js';

/**
 * Starts the receiver, the capture method of a conserver's `links.webhook`. Renewed certificates are used within a
 * minute.
 */
export async function startLinkReceiver(parts: {
  readonly settings: PluginSettings;
  readonly tls: ReceiverTls | undefined;
  readonly backend: QueueBackend;
  /** Captures what is received. */
  readonly capture: CaptureOperation;
  readonly room: CaptureRoom;
  /** Served at `/metrics`; undefined where they are served elsewhere. */
  readonly registry: Registry | undefined;
  readonly metrics: Pick<OperationMetrics, 'reported'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly bodyLimits: BodyLimits | undefined;
  observe(): Observation;
}): Promise<Closable & { readonly url: string }> {
  const { settings, tls, backend, room, registry, metrics, clock, logger, bodyLimits } = parts;
  const receiver = await startReceiver({
    host: settings.host,
    port: settings.port,
    secret: settings.secret,
    tls,
    registry,
    logger,
    async capture(operation, bytes, window) {
      const observed = parts.observe();
      return parts.capture({ operation, vcon: await vconFacts(bytes), method: 'receiver', observed }, window);
    },
    async ping() {
      room.requireSomewhere();
      if (!room.full().includes('queue')) await backend.ping();
    },
    counted: metrics.reported,
    drainMs: (settings.drainSeconds ?? 0) * 1_000,
    ...(bodyLimits ? { limits: bodyLimits } : {}),
  });
  if (!tls) return receiver;
  const read = () => readReceiverTls(settings.tls);
  const following = followCertificate({ first: tls, read, use: receiver.renew, clock, logger });
  return { ...receiver, close: async () => void (await Promise.all([following.close(), receiver.close()])) };
}
