import { mkdir, stat } from 'node:fs/promises';
import { serviceDid } from '../core/statement/issuer-did.js';
import { failureReason } from '../platform/explain-failure.js';
import { isLoopbackName } from '../platform/http/loopback.js';
import { createLogger, type Logger } from '../platform/logger.js';
import { outliveOutput } from '../platform/outlive-output.js';
import { type RunningService, startService } from '../start-service.js';
import { type Config, ConfigError, parseConfig } from './config/config.js';
import { demoFolder, fillDemo } from './fill-demo.js';
import { credentialsPath, readCredentials } from './first-credentials.js';
import { openLedgerThread } from './ledger-thread.js';

type Environment = Readonly<Record<string, string | undefined>>;

const DEMO_DIR = 'demo-data';
const STOP_WITHIN_MS = 25_000;
const EXIT_FAILED = 1;
const EXIT_CONFIGURATION = 2;

/**
 * Runs the service until SIGTERM or SIGINT, configured by the environment, and prints where it listens. Ends the
 * process with 0 after a stop, 1 when the service cannot start or stop, 2 when the configuration is invalid.
 * @param withDemo fills the service with the evidence of the demo, in a folder of its own
 */
export async function runService(environment: Environment, withDemo = false): Promise<void> {
  let isStopping = () => false;
  outliveOutput();
  try {
    const config = withDemo ? await demoConfig(environment) : parseConfig(environment);
    const logger = createLogger(config.logLevel, { format: config.logFormat });
    const starting = startService(config, { openLedgerThread, logger });
    isStopping = stopOnSignal(starting, logger);
    const service = await starting;
    if (isStopping()) return;
    const demo = withDemo ? await demoLines(config, service, logger) : [];
    process.stdout.write(
      `${[...startLines(config, service, await readCredentials(config.dataDir)), ...demo, 'Stop with Ctrl-C or SIGTERM'].join('\n')}\n`,
    );
  } catch (error) {
    // A stop also ends what is under way here, and says itself how the process ends.
    if (isStopping()) return;
    const wrongConfig = error instanceof ConfigError;
    const what = wrongConfig ? 'The configuration is wrong' : 'vcon-archivist could not start';
    process.stderr.write(`${what}: ${failureReason(error)}\n`);
    process.exit(wrongConfig ? EXIT_CONFIGURATION : EXIT_FAILED);
  }
}

/**
 * Evidence cannot be deleted, so the demo never gets into a place that may have other evidence: its folder is new, or was
 * made for a demo. Its conversations come through the conserver plugin.
 */
async function demoConfig(environment: Environment): Promise<Config> {
  const set = ['DATABASE_URL', 'ROLE', 'PLUGIN_SECRET'].find((name) => environment[name]);
  if (set !== undefined) throw new ConfigError(`${set}: leave it unset with --demo`);
  const dataDir = environment['DATA_DIR'] || DEMO_DIR;
  const config = parseConfig({ ...environment, DATA_DIR: dataDir });
  if (config.plugin.port === 0) throw new ConfigError('PLUGIN_PORT: must not be 0 with --demo');
  const isUsed = await readCredentials(dataDir);
  const isDemo = await stat(demoFolder(dataDir)).catch(() => undefined);
  if (isUsed && !isDemo) throw new ConfigError(`DATA_DIR: ${dataDir} has a service that is no demo; name a new folder`);
  await mkdir(demoFolder(dataDir), { recursive: true });
  return config;
}

type StartSettings = Pick<Config, 'role' | 'http' | 'publicUrl' | 'dataDir' | 'blobs' | 'bootstrap'>;

async function demoLines(
  { dataDir, publicUrl }: Pick<Config, 'dataDir' | 'publicUrl'>,
  { url, conserverLinkUrl }: RunningService,
  logger: Logger,
): Promise<string[]> {
  const level = logger.level;
  // What the demo does as the first Owner is no news to who starts it. A failure is thrown.
  logger.level = 'silent';
  const publicAsset = await fillDemo({ url, pluginUrl: conserverLinkUrl!, dataDir });
  logger.level = level;
  return [
    `Demo: two conversations are recorded; their files are in ${demoFolder(dataDir)}`,
    ...(publicAsset === undefined ? [] : [`Demo: a public asset, which needs no sign-in: ${publicUrl}${publicAsset}`]),
  ];
}

/**
 * The one place in the service that handles signals. During the start, a stop waits for the end of the start: the parts
 * that are being opened can only be closed then. Returns what says whether there was a signal.
 */
function stopOnSignal(starting: Promise<RunningService>, logger: Logger): () => boolean {
  let stopping = false;
  const stop = (): void => {
    if (stopping) return;
    stopping = true;
    // A part that does not stop in time must not keep the process running: everything acknowledged is in the database.
    setTimeout(() => {
      logger.error({ waited_ms: STOP_WITHIN_MS }, 'a part did not stop in time, such as an upload: the process ends');
      process.exit(EXIT_FAILED);
    }, STOP_WITHIN_MS).unref();
    starting
      .then((service) => service.close())
      .then(
        () => process.exit(0),
        (error: unknown) => {
          logger.error({ err: error }, 'the service did not stop cleanly');
          process.exit(EXIT_FAILED);
        },
      );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  return () => stopping;
}

function startLines(
  config: StartSettings,
  service: RunningService,
  held: Awaited<ReturnType<typeof readCredentials>>,
): string[] {
  const path = credentialsPath(config.dataDir);
  const place = held ? path : `its credentials are not in ${config.dataDir}`;
  const credentials = service.firstOwner
    ? config.bootstrap.clientSecret
      ? `First Owner: client id ${service.firstOwner.clientId}, with the secret from BOOTSTRAP_CLIENT_SECRET`
      : `First Owner: client id ${service.firstOwner.clientId}, secret written to ${path}`
    : `First Owner: created at an earlier start (${place})`;
  const link = service.conserverLinkUrl ? `, its conserver plugin on ${service.conserverLinkUrl}` : '';
  const scanner = config.blobs.clamavUrl ? 'ClamAV' : 'no blob scanner (CLAMAV_URL is not set: blobs stay NOT_SCANNED)';
  return [
    `vcon-archivist listens on ${service.url} (role ${config.role})${link}`,
    `Data: ${config.dataDir}`,
    credentials,
    `Engines: ${service.engines.database} database, ${service.engines.queue} queue, ${scanner}`,
    `Root key: ${service.rootFingerprint}`,
    ...loopbackWarning(config),
    ...changedNameWarning(config, service),
    ...(service.firstLook ? [`Sign in as the first Owner (once, within ten minutes): ${service.firstLook}`] : []),
  ];
}

/** Issuer names are permanent: evidence that was issued under a forgotten default cannot be changed. */
function loopbackWarning({ publicUrl, http: { host } }: Pick<Config, 'publicUrl' | 'http'>): string[] {
  if (isLoopbackName(host) || !isLoopbackName(new URL(publicUrl).hostname)) return [];
  return [
    `Warning: PUBLIC_URL is ${publicUrl}, but HOST ${host} accepts other machines. Statements and receipts keep this name for ever: set PUBLIC_URL before you record evidence`,
  ];
}

function changedNameWarning({ publicUrl }: Pick<Config, 'publicUrl'>, { formerIssuer }: RunningService): string[] {
  if (formerIssuer === undefined) return [];
  return [
    `Warning: by PUBLIC_URL ${publicUrl} new statements and receipts name ${serviceDid(publicUrl)}; the newest list of keys names ${formerIssuer}. If you did not mean this, stop the service and set PUBLIC_URL back (docs/operate/runbooks.md)`,
  ];
}
