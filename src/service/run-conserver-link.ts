import { type ConserverLink, startConserverLink } from '../../plugins/start/start-conserver-link.js';
import type { Clock } from '../platform/clock.js';
import type { Config } from '../platform/config.js';
import { explained } from '../platform/explain-failure.js';
import type { Logger } from '../platform/logger.js';
import type { Metrics } from '../platform/metrics.js';
import type { QueueBackend } from '../platform/queue/queue-backend.js';
import { readCredentials } from './first-credentials.js';

/**
 * Runs the conserver plugin inside the service: with the credentials that the environment names for it, else with those
 * of the first Owner. Undefined when the configuration wants none, or nobody's credentials are here.
 * @throws {Error} in the role `worker`, which without credentials has nothing to do
 */
export async function runConserverLink(parts: {
  config: Config;
  /** Where this process listens: delivered to unless `ARCHIVIST_URL` names another place. */
  ownPort: number;
  queues: QueueBackend;
  logger: Logger;
  clock: Clock;
  metrics: Metrics;
}): Promise<ConserverLink | undefined> {
  const { config, queues: backend, logger, clock, metrics } = parts;
  if (config.plugin.port === 0) return undefined;
  const credentials = await linkCredentials(config);
  if (credentials) {
    // A worker beside others serves no interface of its own.
    const beside = config.role === 'worker' ? config.publicUrl : `http://${reachable(config.host)}:${parts.ownPort}`;
    const archivistUrl = config.plugin.archivistUrl ?? beside;
    const settings = { ...config.plugin, archivistUrl, ...credentials };
    const started = startConserverLink({ settings, keeps: config, backend, logger, clock, registry: metrics.registry });
    return explained(`the conserver plugin (PLUGIN_PORT ${settings.port}) cannot be started`, started);
  }
  const reason = 'the conserver plugin needs ARCHIVIST_CLIENT_ID and ARCHIVIST_CLIENT_SECRET';
  if (config.role === 'worker') throw new Error(reason);
  logger.warn(`${reason}: it does not run`);
  return undefined;
}

/** The address under which this machine reaches what listens on a host. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}

async function linkCredentials(config: Config): Promise<{ clientId: string; clientSecret: string } | undefined> {
  const { clientId, clientSecret } = config.plugin;
  if (clientId !== undefined && clientSecret !== undefined) return { clientId, clientSecret };
  if (config.bootstrapClientId !== undefined && config.bootstrapClientSecret !== undefined) {
    return { clientId: config.bootstrapClientId, clientSecret: config.bootstrapClientSecret };
  }
  const first = await readCredentials(config.dataDir);
  return first && { clientId: first.client_id, clientSecret: first.client_secret };
}
