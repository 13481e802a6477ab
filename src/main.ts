import { type Config, ConfigError, parseConfig } from './platform/config.js';
import { failureReason } from './platform/explain-failure.js';
import { credentialsPath } from './service/first-credentials.js';
import { ledgerThread } from './service/ledger-thread.js';
import { type RunningService, startService } from './start-service.js';

const STOP_WITHIN_MS = 25_000;

/** Starts the service from the environment, says where it is, and stops it on the first SIGTERM or SIGINT. */
async function main(): Promise<void> {
  const config = readConfig();
  const service = await startService(config, { ledgerThread });
  process.stdout.write(`${startLines(config, service).join('\n')}\n`);
  let stopping = false;
  const stop = (): void => {
    if (stopping) return;
    stopping = true;
    // A part that does not end in time must not keep the process: everything acknowledged is in the database.
    setTimeout(() => process.exit(1), STOP_WITHIN_MS).unref();
    service.close().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

function readConfig(): Config {
  try {
    return parseConfig(process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`The configuration does not work: ${error.message}\n`);
    process.exit(2);
  }
}

function startLines(config: Config, service: RunningService): string[] {
  const credentials = service.firstOwner
    ? config.bootstrapClientSecret
      ? `First Owner: client id ${service.firstOwner.clientId}, with the secret from BOOTSTRAP_CLIENT_SECRET`
      : `First Owner: client id ${service.firstOwner.clientId}, secret written to ${credentialsPath(config.dataDir)}`
    : `First Owner: made at an earlier start (${credentialsPath(config.dataDir)})`;
  const link = service.conserverLinkUrl ? `, its conserver plugin on ${service.conserverLinkUrl}` : '';
  const scanner = config.clamavUrl ? 'ClamAV' : 'no blob scanner (CLAMAV_URL is not set: blobs stay NOT_SCANNED)';
  return [
    `vcon-archivist listens on ${service.url} (role ${config.role})${link}`,
    `Data: ${config.dataDir}`,
    credentials,
    `Engines: ${service.engines.database} database, ${service.engines.queue} queue, ${scanner}`,
    'Stop with Ctrl-C or SIGTERM',
  ];
}

main().catch((error: unknown) => {
  process.stderr.write(`vcon-archivist could not start: ${failureReason(error)}\n`);
  process.exit(1);
});
