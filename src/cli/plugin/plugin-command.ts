import type { Command } from 'commander';
import {
  checkPluginSettings,
  type PluginSettings,
  PluginSettingsError,
} from '../../../plugins/settings/plugin-settings.js';
import { startConserverLink } from '../../../plugins/start/start-conserver-link.js';
import { systemClock } from '../../platform/clock.js';
import { type Config, ConfigError, parseConfig } from '../../platform/config.js';
import { explained, failureReason } from '../../platform/explain-failure.js';
import { createLogger } from '../../platform/logger.js';
import { EXIT_USAGE, type Terminal } from '../terminal.js';
import { addDoctorCommand } from './doctor-command.js';
import { openPluginQueue } from './open-plugin-queue.js';
import { addReceiptCommand } from './receipt-command.js';

const SERVICE_BESIDE = 'http://127.0.0.1:8080';
const EXIT_FAILED = 1;
/** Longer than a delivery under way may take. */
const STOP_WITHIN_MS = 25_000;

/** Resolves at the first signal to end. */
function signalled(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve());
  });
}

/**
 * Alone the plugin listens where `HOST` says, which somebody has set on purpose if it is not loopback.
 * @throws {PluginSettingsError}
 */
function settingsOf({ host, plugin }: Config): PluginSettings {
  return checkPluginSettings({
    ...plugin,
    archivistUrl: plugin.archivistUrl ?? SERVICE_BESIDE,
    clientId: plugin.clientId ?? '',
    clientSecret: plugin.clientSecret ?? '',
    host,
  });
}

function captureLine({ conserverRedisUrl, stream, tapList, endings }: PluginSettings): string[] {
  if (conserverRedisUrl === undefined) return [];
  const sources = [`stream ${stream}`, ...(tapList ? [`tap ${tapList}`] : []), ...(endings ? ['ends of vCons'] : [])];
  return [`From the conserver’s Redis: ${sources.join(', ')}`];
}

function startLines(config: Config, settings: PluginSettings, url: string, engine: string): string[] {
  const callers = settings.secret ? 'callers that send PLUGIN_SECRET' : 'any caller on this machine: no PLUGIN_SECRET';
  const place = engine === 'embedded PostgreSQL' ? ` in ${config.dataDir}` : '';
  return [
    `The conserver plugin listens on ${url}, for ${callers}`,
    `links.webhook posts to ${url}/chains/<chain>/links/<link>/operations/<vcon_operation>`,
    ...captureLine(settings),
    `Delivers to ${settings.archivistUrl} as client ${settings.clientId}`,
    `Queue: ${engine}${place}; its length and dead letters are on ${url}/metrics`,
    'Stop with Ctrl-C or SIGTERM: what is not delivered stays in the queue',
  ];
}

async function runPlugin(config: Config, terminal: Terminal): Promise<void> {
  const settings = settingsOf(config);
  const logger = createLogger(config.logLevel, { format: config.logFormat });
  const ended = signalled();
  const queues = await openPluginQueue(config, logger);
  try {
    const starting = startConserverLink({
      settings,
      keeps: config,
      backend: queues.backend,
      logger,
      clock: systemClock,
    });
    const link = await explained(`PLUGIN_PORT ${settings.port} of HOST ${settings.host} cannot be used`, starting);
    for (const line of startLines(config, settings, link.url, queues.backend.engine)) terminal.print(line);
    await ended;
    // What does not end in time must not keep the process: everything captured is in the queue.
    setTimeout(() => process.exit(EXIT_FAILED), STOP_WITHIN_MS).unref();
    await link.close();
  } finally {
    await queues.close();
  }
}

/**
 * `plugin`: runs the conserver plugin alone until SIGTERM or SIGINT, configured by the environment. Exit code 2 when the
 * configuration is at fault, 1 when it cannot be started.
 */
export function addPluginCommand(program: Command, terminal: Terminal): void {
  const plugin = program.command('plugin');
  addDoctorCommand(plugin, terminal);
  addReceiptCommand(plugin, terminal);
  plugin
    .description('run the conserver plugin alone: it keeps reported operations and delivers them to ARCHIVIST_URL')
    .action(async () => {
      try {
        await runPlugin(parseConfig(process.env), terminal);
      } catch (error) {
        const wrongSettings = error instanceof ConfigError || error instanceof PluginSettingsError;
        terminal.complain(`The conserver plugin does not run: ${failureReason(error)}`);
        terminal.exitCode = wrongSettings ? EXIT_USAGE : EXIT_FAILED;
      }
    });
}
