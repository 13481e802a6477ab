import { type ConserverLink, startConserverLink } from '../../plugins/start/start-conserver-link.js';
import type { Clock } from '../platform/clock.js';
import type { ClockWatch } from '../platform/clock-watch.js';
import type { DiskWatch } from '../platform/disk/disk-watch.js';
import { explainedPort } from '../platform/explain-failure.js';
import type { Logger } from '../platform/logger.js';
import type { QueueBackend } from '../platform/queue/queue-backend.js';
import { reachableHost } from '../platform/reachable-host.js';
import type { Config } from './config/config.js';
import type { Metrics } from './metrics.js';
import { type CredentialSettings, pluginCredentials } from './plugin-credentials.js';

type LinkSettings = CredentialSettings & Pick<Config, 'role' | 'publicUrl' | 'http' | 'redisUrl' | 'plugin'>;

/**
 * Runs the conserver plugin inside the service, with the credentials in the environment or else those of the first Owner.
 * Resolves with undefined if `PLUGIN_PORT` is 0 or there are no credentials.
 * @throws {Error} in the role `worker` without credentials, because it would have nothing to do
 */
export async function runConserverLink(parts: {
  config: LinkSettings;
  /** The port of this process. Events are delivered to it unless `ARCHIVIST_URL` is set. */
  ownPort: number;
  backend: QueueBackend;
  disk: DiskWatch;
  logger: Logger;
  clock: Clock;
  clockWatch: ClockWatch;
  metrics: Metrics;
}): Promise<ConserverLink | undefined> {
  const { config, backend, disk, logger, clock, clockWatch, metrics } = parts;
  if (config.plugin.port === 0) return undefined;
  const credentials = await pluginCredentials(config);
  if (credentials) {
    // A worker beside others serves no interface of its own.
    const beside =
      config.role === 'worker' ? config.publicUrl : `http://${reachableHost(config.http.host)}:${parts.ownPort}`;
    const archivistUrl = config.plugin.archivistUrl ?? beside;
    const settings = { ...config.plugin, archivistUrl, ...credentials };
    const { http } = config;
    const metricsElsewhere = http.metrics !== undefined || http.metricsToken !== undefined;
    const clockIsWrong = () => clockWatch.fault() !== undefined;
    const common = { backend, disk, logger, clock, clockIsWrong, registry: metrics.registry, metricsElsewhere };
    const started = startConserverLink({ settings, keeps: config, ...common });
    return explainedPort(
      'PLUGIN_PORT',
      `the conserver plugin (PLUGIN_PORT ${settings.port}) cannot be started`,
      started,
    );
  }
  const reason = 'the conserver plugin needs ARCHIVIST_CLIENT_ID and ARCHIVIST_CLIENT_SECRET';
  if (config.role === 'worker') throw new Error(reason);
  logger.warn(`${reason}: it does not run`);
  return undefined;
}
