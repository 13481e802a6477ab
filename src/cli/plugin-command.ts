import type { Command } from 'commander';
import { PluginSettingsError } from '../../plugins/conserver-link/plugin-settings.js';
import { startConserverLink } from '../../plugins/conserver-link/start-conserver-link.js';
import { systemClock } from '../platform/clock.js';
import { type Config, ConfigError, parseConfig } from '../platform/config.js';
import { createLogger, type Logger } from '../platform/logger.js';
import { openDatabase } from '../platform/postgres/open-database.js';
import { openRedisQueues, postgresQueues } from '../platform/queue/open-queue-backend.js';
import type { QueueBackend } from '../platform/queue/queue-backend.js';
import { EXIT_USAGE, type Terminal } from './terminal.js';

const SERVICE_BESIDE = 'http://127.0.0.1:8080';

interface OpenQueues {
  readonly backend: QueueBackend;
  close(): Promise<void>;
}

/** Redis where it is configured, else the configured PostgreSQL, else an embedded one in `DATA_DIR`. */
async function openQueues(config: Config, logger: Logger): Promise<OpenQueues> {
  if (config.redisUrl) {
    const backend = await openRedisQueues(config.redisUrl, logger);
    return { backend, close: () => backend.close() };
  }
  const database = await openDatabase(config, logger);
  const backend = postgresQueues(database, logger);
  return {
    backend,
    async close() {
      await backend.close();
      await database.close();
    },
  };
}

/** Resolves at the first signal to end. */
function signalled(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve());
  });
}

async function runPlugin(config: Config, terminal: Terminal): Promise<void> {
  const { plugin } = config;
  const logger = createLogger(config.logLevel);
  const ended = signalled();
  const queues = await openQueues(config, logger);
  try {
    const link = await startConserverLink({
      settings: {
        archivistUrl: plugin.archivistUrl ?? SERVICE_BESIDE,
        clientId: plugin.clientId ?? '',
        clientSecret: plugin.clientSecret ?? '',
        host: plugin.host,
        port: plugin.port,
        secret: plugin.secret,
      },
      backend: queues.backend,
      logger,
      clock: systemClock,
    });
    terminal.print(`The conserver plugin listens on ${link.url}, queue on ${queues.backend.engine}`);
    await ended;
    await link.close();
  } finally {
    await queues.close();
  }
}

/**
 * `plugin`: runs the conserver plugin alone until SIGTERM or SIGINT, configured by the environment. Exit code 2 when the
 * configuration is at fault.
 */
export function addPluginCommand(program: Command, terminal: Terminal): void {
  program
    .command('plugin')
    .description('run the conserver plugin alone: it keeps reported operations and delivers them to ARCHIVIST_URL')
    .action(async () => {
      try {
        await runPlugin(parseConfig(process.env), terminal);
      } catch (error) {
        if (!(error instanceof ConfigError || error instanceof PluginSettingsError)) throw error;
        terminal.complain(`error: ${error.message}`);
        terminal.exitCode = EXIT_USAGE;
      }
    });
}
