import { type Config, ConfigError, parseConfig } from '../platform/config.js';
import { failureReason } from '../platform/explain-failure.js';
import { type RunningService, startService } from '../start-service.js';
import { credentialsPath } from './first-credentials.js';
import { ledgerThread } from './ledger-thread.js';

const STOP_WITHIN_MS = 25_000;
const EXIT_FAILED = 1;
const EXIT_CONFIGURATION = 2;

/**
 * Runs the service until SIGTERM or SIGINT, configured by the environment, and prints where it listens. Ends the
 * process with 0 after a stop, 1 when the service cannot start or stop, 2 when the configuration is invalid.
 */
export async function runService(environment: Readonly<Record<string, string | undefined>>): Promise<void> {
  try {
    const config = parseConfig(environment);
    const service = await startService(config, { ledgerThread });
    process.stdout.write(`${startLines(config, service).join('\n')}\n`);
    stopOnSignal(service);
  } catch (error) {
    const wrongConfig = error instanceof ConfigError;
    const what = wrongConfig ? 'The configuration is wrong' : 'vcon-archivist could not start';
    process.stderr.write(`${what}: ${failureReason(error)}\n`);
    process.exit(wrongConfig ? EXIT_CONFIGURATION : EXIT_FAILED);
  }
}

/** The one place in the service that handles signals. */
function stopOnSignal(service: RunningService): void {
  let stopping = false;
  const stop = (): void => {
    if (stopping) return;
    stopping = true;
    // A part that does not stop in time must not keep the process running: everything acknowledged is in the database.
    setTimeout(() => process.exit(EXIT_FAILED), STOP_WITHIN_MS).unref();
    service.close().then(
      () => process.exit(0),
      () => process.exit(EXIT_FAILED),
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

function startLines(config: Config, service: RunningService): string[] {
  const credentials = service.firstOwner
    ? config.bootstrapClientSecret
      ? `First Owner: client id ${service.firstOwner.clientId}, with the secret from BOOTSTRAP_CLIENT_SECRET`
      : `First Owner: client id ${service.firstOwner.clientId}, secret written to ${credentialsPath(config.dataDir)}`
    : `First Owner: created at an earlier start (${credentialsPath(config.dataDir)})`;
  const link = service.conserverLinkUrl ? `, its conserver plugin on ${service.conserverLinkUrl}` : '';
  const scanner = config.clamavUrl ? 'ClamAV' : 'no blob scanner (CLAMAV_URL is not set: blobs stay NOT_SCANNED)';
  return [
    `vcon-archivist listens on ${service.url} (role ${config.role})${link}`,
    `Data: ${config.dataDir}`,
    credentials,
    `Engines: ${service.engines.database} database, ${service.engines.queue} queue, ${scanner}`,
    `Root key: ${service.rootFingerprint}`,
    ...loopbackWarning(config),
    'Stop with Ctrl-C or SIGTERM',
  ];
}

/** Issuer names are permanent: evidence that was issued under a forgotten default cannot be changed. */
function loopbackWarning({ publicUrl, host }: Config): string[] {
  const isLoopback = (name: string) => /^(localhost|127(\.\d+){3}|\[::1\]|::1)$/.test(name);
  if (isLoopback(host) || !isLoopback(new URL(publicUrl).hostname)) return [];
  return [
    `Warning: PUBLIC_URL is ${publicUrl}, but HOST ${host} accepts other machines. Statements and receipts keep this name for ever: set PUBLIC_URL before you record evidence`,
  ];
}
