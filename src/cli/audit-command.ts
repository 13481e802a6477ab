import type { Command } from 'commander';
import { pino } from 'pino';
import type { KnownRoot } from '../archivist/audit/audit-keys.js';
import type { Deployment } from '../archivist/deployment.js';
import { findDeployment } from '../archivist/deployment-store.js';
import { readKeyDocument } from '../core/cose/key-document.js';
import type { PublicJwk } from '../core/cose/public-key.js';
import { VerificationError } from '../core/errors.js';
import { UsageError } from '../core/evidence/usage-error.js';
import type { KeyManifest } from '../core/keys/key-manifest.js';
import { readKeyManifest } from '../core/keys/read-key-manifest.js';
import type { AuditContext } from '../ledger/audit/audit-context.js';
import { fileObjectStore } from '../platform/file-object-store.js';
import type { PublishedKey } from '../platform/keys/keyring.js';
import { listKeyManifests } from '../platform/keys/manifest/key-manifest-store.js';
import { manifestFile } from '../platform/keys/manifest/manifest-file.js';
import { signatureFitsApart } from '../platform/keys/node-verify.js';
import type { Database } from '../platform/postgres/database.js';
import { openDatabase } from '../platform/postgres/open-database.js';
import { auditDeployment } from '../service/audit-deployment.js';
import { type AuditState, openAuditState, UnusableAuditState } from '../service/audit-state-file.js';
import { type AuditThreads, canStartAuditThreads, startAuditThreads } from '../service/audit-threads.js';
import { type Config, ConfigError, parseConfig } from '../service/config/config.js';
import { AUDITED_TABLES, coverageText } from './audited-columns.js';
import { examples } from './help-examples.js';
import { readInput } from './read-input.js';
import { rootThumbprint } from './root-option.js';
import { EXIT_USAGE, type Terminal } from './terminal.js';

/** How to audit. */
interface AuditOptions {
  readonly logKeys?: readonly string[];
  readonly root?: string;
  readonly verbose?: boolean;
  readonly json?: boolean;
}

/** The result of an audit. */
interface AuditReport {
  readonly sound: boolean;
  readonly logs: { name: string; leaves: string; seals: string; faults: number }[];
  readonly leavesPerSecond: number;
  readonly faults: string[];
  /** Whether the root key was known from a source other than the database. */
  readonly rootKnown: boolean;
  /** The columns that the audit covers and those that it does not. */
  readonly coverage: typeof AUDITED_TABLES;
}

const EXIT_FAULTS = 1;
const MOST_FAULTS = 200;
const LOGS_AT_ONCE = 3;

function collect(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, value];
}

async function deploymentOf(database: Database): Promise<Deployment> {
  const deployment = await database.inTransaction('system', findDeployment);
  if (!deployment) throw new UsageError('there is no deployment in this database: no service has started on it');
  return deployment;
}

/** Returns the newest manifest that can be read. The audit checks later whether the root key signed it. */
function newestOf(manifests: readonly Uint8Array[]): Pick<KeyManifest, 'keys'> {
  for (const bytes of manifests.toReversed())
    try {
      return readKeyManifest(bytes).manifest;
    } catch (error) {
      if (!(error instanceof VerificationError)) throw error;
    }
  return { keys: [] };
}

/** Returns what is known of the root key: its fingerprint, or the newest manifest that KEYS_DIR remembers. */
async function knownRoot(config: Config, deployment: Deployment, { root }: AuditOptions): Promise<KnownRoot> {
  const remembered = await manifestFile(config.keysDir, deployment.deploymentTenancy).read();
  return { remembered, thumbprint: root === undefined ? undefined : rootThumbprint(root) };
}

/** Keys from files come first, because an attacker who changes evidence in the database can also change the keys there. */
async function keyringOf(
  database: Database,
  { deploymentTenancy }: Deployment,
  options: AuditOptions,
): Promise<AuditContext['keyring']> {
  const given: PublicJwk[] = [];
  for (const path of options.logKeys ?? []) given.push(...readKeyDocument(await readInput(path)));
  const stored = await database.inTransaction('system', (tx) => listKeyManifests(tx, deploymentTenancy, 1n));
  const { keys } = newestOf(stored.map(({ manifest }) => manifest));
  const fromElsewhere = (role: string) => role === 'seal' || role === 'statement_receipt';
  return {
    everyKey: (roles) =>
      given.length > 0 && roles.every(fromElsewhere)
        ? given.map((jwk) => ({ jwk }) as PublishedKey)
        : keys
            .filter(({ role }) => roles.some((wanted) => wanted === role))
            .map(({ jwk }) => ({ jwk: jwk as unknown as PublicJwk }) as PublishedKey),
  };
}

async function audit(options: AuditOptions, terminal: Terminal): Promise<AuditReport> {
  const config = parseConfig(process.env);
  const database = await openDatabase(config, pino({ level: 'silent' })).catch((error: Error) => {
    throw new UsageError(error.message);
  });
  try {
    return await auditOpen(database, config, options, terminal);
  } finally {
    await database.close();
  }
}

/** Audits an open deployment. @throws {UsageError} if there is none in the database */
export async function auditOpen(
  database: Database,
  config: Config,
  options: AuditOptions,
  terminal: Terminal,
): Promise<AuditReport> {
  const faults: { log: string; what: string }[] = [];
  const deployment = await deploymentOf(database);
  const root = await knownRoot(config, deployment, options);
  const begun = performance.now();
  const audited = await auditDeployment({
    database,
    deployment,
    objectStore: fileObjectStore(config.objectStoreDir),
    verifySignature: signatureFitsApart,
    atOnce: LOGS_AT_ONCE,
    root,
    keyring: await keyringOf(database, deployment, options),
    witnesses: config.witnesses.map(({ key }) => key),
    quorum: config.witnessQuorum,
    fault: (log, what) => void faults.push({ log, what }),
    progress: (log, leaves) => terminal.progress?.(`${log}: ${leaves} leaves`),
  });
  const leaves = audited.reduce((sum, log) => sum + Number(log.leaves), 0);
  const logs = audited.map((log) => ({
    name: log.name,
    leaves: String(log.leaves),
    seals: String(log.seals),
    faults: faults.filter((each) => each.log === log.name).length,
  }));
  return {
    sound: faults.length === 0,
    logs,
    leavesPerSecond: Math.round(leaves / ((performance.now() - begun) / 1000)),
    faults: faults.map(({ log, what }) => `${log}: ${what}`),
    rootKnown: root.remembered !== undefined || root.thumbprint !== undefined,
    coverage: AUDITED_TABLES,
  };
}

function reportText({ sound, logs, leavesPerSecond, faults, rootKnown }: AuditReport, options: AuditOptions): string {
  const lines = logs.map((log) => {
    const verdict = log.faults === 0 ? 'ok    ' : 'FAULTY';
    return `${verdict}  ${log.name}: ${log.leaves} leaves, ${log.seals} seals${log.faults > 0 ? `, ${log.faults} faults` : ''}`;
  });
  const shown = faults.slice(0, MOST_FAULTS);
  const keys =
    options.logKeys || rootKnown
      ? []
      : [
          '',
          'The keys were read from the database. To trust only keys that you obtained elsewhere, give --root <fingerprint> or set KEYS_DIR.',
        ];
  return [
    ...(options.verbose ? [coverageText(), ''] : []),
    ...lines,
    ...(shown.length > 0 ? ['', ...shown] : []),
    ...(faults.length > shown.length ? [`… and ${faults.length - shown.length} more`] : []),
    '',
    `${leavesPerSecond} leaves per second.`,
    ...keys,
    '',
    sound ? 'SOUND.' : `NOT SOUND: ${faults.length} ${faults.length === 1 ? 'fault' : 'faults'}.`,
  ].join('\n');
}

/**
 * `audit`: rebuilds every log from its events and statements and compares the result with everything that is stored. Reads
 * the database and the object store that the environment names, and changes nothing. Exit code 0: all is sound; 1: there
 * are faults; 2: the audit could not start.
 */
export function addAuditCommand(program: Command, terminal: Terminal): void {
  program
    .command('audit')
    .description(
      'rebuild every log from its events and statements and compare it with what is stored; reads DATABASE_URL, or DATA_DIR of a stopped service',
    )
    .option('--root <fingerprint>', 'fingerprint of the root key; default: the key manifest that KEYS_DIR remembers')
    .option(
      '--log-keys <file>',
      'keys of the logs, obtained from a source other than this database; repeatable',
      collect,
    )
    .option('--verbose', 'also list the columns that the audit covers, and those that it does not')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      examples(
        'vcon-archivist audit --root AITC-A7TU-…',
        'DATABASE_URL=postgres://archivist@db/archivist vcon-archivist audit --verbose',
      ),
    )
    .action(async (options: AuditOptions) => {
      try {
        const report = await audit(options, terminal);
        terminal.print(options.json ? JSON.stringify(report, null, 2) : reportText(report, options));
        terminal.exitCode = report.sound ? 0 : EXIT_FAULTS;
      } catch (error) {
        if (!(error instanceof UsageError) && !(error instanceof ConfigError)) throw error;
        terminal.complain(`error: ${error.message}`);
        terminal.exitCode = EXIT_USAGE;
      }
    });
}
