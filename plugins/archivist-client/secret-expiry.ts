import type { Logger } from 'pino';
import { Gauge, type Registry } from 'prom-client';
import type { Clock } from '../../src/platform/clock.js';

/** How long before a client secret expires the plugin warns: thirty days. */
export const WARN_BEFORE_MS = 30 * 24 * 60 * 60 * 1000;

/** Reports when the plugin's client secrets expire, and logs a warning with each new token from thirty days before. */
export function watchSecretExpiry(parts: {
  readonly registry: Registry;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'warn'>;
}): (clientId: string, atMs: number) => void {
  const gauge = new Gauge({
    name: 'conserver_link_secret_expires_timestamp_seconds',
    help: 'When the client secret expires, in Unix seconds, by client',
    labelNames: ['client'],
    registers: [parts.registry],
  });
  return (client, atMs) => {
    gauge.set({ client }, atMs / 1000);
    if (atMs - parts.clock.now() <= WARN_BEFORE_MS)
      parts.logger.warn(
        { client, expires: new Date(atMs).toISOString() },
        'the client secret expires soon: ask an Owner to regenerate it',
      );
  };
}
