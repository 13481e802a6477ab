import type { Command } from 'commander';
import { Registry } from 'prom-client';
import {
  checkPluginSettings,
  type PluginSettings,
  PluginSettingsError,
} from '../../../plugins/settings/plugin-settings.js';
import { startConserverLink } from '../../../plugins/start/start-conserver-link.js';
import { watchServiceClock } from '../../../plugins/start/watch-service-clock.js';
import { systemClock } from '../../platform/clock.js';
import { type Closers, closeAll } from '../../platform/close-all.js';
import { explainedPort, failureReason } from '../../platform/explain-failure.js';
import { createLogger } from '../../platform/logger.js';
import { outliveOutput } from '../../platform/outlive-output.js';
import type { QueueBackend } from '../../platform/queue/queue-backend.js';
import { type Config, ConfigError, parseConfig } from '../../service/config/config.js';
import { watchPluginDisks } from '../../service/watch-disks.js';
import { examples } from '../help-examples.js';
import { serviceUrl } from '../service-url.js';
import { EXIT_USAGE, type Terminal } from '../terminal.js';
import { addDoctorCommand } from './doctor-command.js';
import { openPluginQueue } from './open-plugin-queue.js';
import { addReceiptCommand } from './receipt-command.js';

const EXIT_FAILED = 1;
/** Longer than one delivery can take. */
const STOP_WITHIN_MS = 25_000;

/** Resolves at the first SIGTERM or SIGINT. */
function signalled(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve());
  });
}

/**
 * Outside the service the plugin listens on `HOST`: an address other than loopback was set on purpose.
 * @throws {PluginSettingsError}
 */
function settingsOf(config: Config): PluginSettings {
  const { http, plugin } = config;
  return checkPluginSettings({
    ...plugin,
    archivistUrl: serviceUrl(config),
    clientId: plugin.clientId ?? '',
    clientSecret: plugin.clientSecret ?? '',
    host: http.host,
  });
}

function captureLine({ conserverRedisUrl, stream, tapList, endings }: PluginSettings): string[] {
  if (conserverRedisUrl === undefined) return [];
  const sources = [
    `stream ${stream}`,
    ...(tapList ? [`tap ${tapList}`] : []),
    ...(endings ? ['endings of vCons'] : []),
  ];
  return [`From the conserver’s Redis: ${sources.join(', ')}`];
}

/** Whom the plugin takes operations from. */
function callersOf({ secret, tls }: PluginSettings): string {
  const guards = [
    ...(tls?.clientCaFile ? ['have a certificate of PLUGIN_TLS_CLIENT_CA'] : []),
    ...(secret ? ['send PLUGIN_SECRET'] : []),
  ];
  if (guards.length === 0) return 'any caller on this machine (PLUGIN_SECRET is not set)';
  return `callers that ${guards.join(' and ')}`;
}

function startLines(config: Config, settings: PluginSettings, url: string, engine: string): string[] {
  const place = engine === 'embedded PostgreSQL' ? ` in ${config.dataDir}` : '';
  // No other program can call the address that stands for all of this machine's.
  const callable = url.replace(/\/\/(0\.0\.0\.0|\[::\])(?=:)/, '//<this machine>');
  return [
    `The conserver plugin listens on ${url}, for ${callersOf(settings)}`,
    `links.webhook posts to ${callable}/chains/<chain>/links/<link>/operations/<vcon_operation>`,
    ...captureLine(settings),
    `Delivers to ${settings.archivistUrl} as client ${settings.clientId}`,
    `Queue: ${engine}${place}; ${callable}/metrics shows its length and dead letters`,
    'Stop with Ctrl-C or SIGTERM: undelivered operations stay in the queue',
  ];
}

/** Runs until a signal to stop. @param closers receives what closes each part that was opened */
async function runUntilSignal(config: Config, terminal: Terminal, closers: Closers): Promise<void> {
  const settings = settingsOf(config);
  const logger = createLogger(config.logLevel, { format: config.logFormat });
  outliveOutput();
  const ended = signalled();
  let queue: QueueBackend | undefined;
  const disk = watchPluginDisks(config, { logger, queueIsFull: async () => queue?.isFull() ?? false });
  const queues = await openPluginQueue(config, logger, disk);
  closers.push(() => queues.close());
  queue = queues.backend;
  closers.push(() => disk.close());
  const registry = new Registry();
  const clock = systemClock;
  const clockWatch = await watchServiceClock({ url: settings.archivistUrl, clock, registry, logger });
  closers.push(() => clockWatch.close());
  const starting = startConserverLink({
    ...{ settings, keeps: config, backend: queues.backend, disk, logger, clock, registry },
    clockIsWrong: () => clockWatch.fault() !== undefined,
  });
  const link = await explainedPort(
    'PLUGIN_PORT',
    `PLUGIN_PORT ${settings.port} of HOST ${settings.host} cannot be used`,
    starting,
  );
  closers.push(() => link.close());
  await disk.start();
  for (const line of startLines(config, settings, link.url, queues.backend.engine)) terminal.print(line);
  await ended;
  // A delivery that does not end in time must not keep the process alive: everything captured is in the queue.
  setTimeout(() => process.exit(EXIT_FAILED), STOP_WITHIN_MS).unref();
}

async function runPlugin(config: Config, terminal: Terminal): Promise<void> {
  const closers: Closers = [];
  try {
    await runUntilSignal(config, terminal, closers);
  } catch (error) {
    await closeAll(closers).catch(() => undefined);
    throw error;
  }
  await closeAll(closers);
}

/**
 * `plugin`: runs the conserver plugin in a process of its own until SIGTERM or SIGINT, configured by the environment. Exit
 * code 2: the configuration is invalid; 1: the plugin cannot be started.
 */
export function addPluginCommand(program: Command, terminal: Terminal): void {
  const plugin = program.command('plugin');
  addDoctorCommand(plugin, terminal);
  addReceiptCommand(plugin, terminal);
  plugin
    .description(
      'run the conserver plugin in a process of its own: it records operations and delivers them to the service',
    )
    .addHelpText(
      'after',
      examples(
        'ARCHIVIST_URL=https://archivist.example ARCHIVIST_CLIENT_ID=<id> ARCHIVIST_CLIENT_SECRET=<secret> vcon-archivist plugin',
      ),
    )
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
