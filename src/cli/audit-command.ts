import { availableParallelism } from 'node:os';
import type { Command } from 'commander';
import { pino } from 'pino';
import type { KnownRoot } from '../archivist/audit/audit-keys.js';
import type { Deployment } from '../archivist/deployment.js';
import { findDeployment } from '../archivist/deployment-store.js';
import { toHex } from '../core/bytes.js';
import { keyThumbprint } from '../core/cose/cose-key.js';
import type { PublicJwk } from '../core/cose/public-key.js';
import { VerificationError } from '../core/errors.js';
import { UsageError } from '../core/evidence/usage-error.js';
import type { KeyManifest } from '../core/keys/key-manifest.js';
import { readKeyManifest } from '../core/keys/read-key-manifest.js';
import type { AuditContext } from '../ledger/audit/audit-context.js';
import type { PublishedKey } from '../platform/keys/keyring.js';
import { listKeyManifests } from '../platform/keys/manifest/key-manifest-store.js';
import { manifestFile } from '../platform/keys/manifest/manifest-file.js';
import { signatureFitsApart } from '../platform/keys/node-verify.js';
import { openObjectStore } from '../platform/open-object-store.js';
import type { Database } from '../platform/postgres/database.js';
import { openDatabase } from '../platform/postgres/open-database.js';
import { auditDeployment } from '../service/audit-deployment.js';
import { type AuditState, openAuditState, UnusableAuditState } from '../service/audit-state-file.js';
import { type AuditThreads, canStartAuditThreads, startAuditThreads } from '../service/audit-threads.js';
import { type Config, ConfigError, parseConfig } from '../service/config/config.js';
import { type AuditFault, type AuditReport, auditReport, auditReportLines } from './audit-report.js';
import { collect } from './collect.js';
import { counted } from './counted.js';
import { examples } from './help-examples.js';
import { readKeyFiles } from './key-files.js';
import { requireEmbedded } from './require-embedded.js';
import { rootThumbprint } from './root-option.js';
import { giveNoVerdict, jsonLines, type Terminal } from './terminal.js';

/** How to audit. */
interface AuditOptions {
  readonly logKeys?: readonly string[];
  readonly root?: string;
  readonly state?: string;
  readonly threads?: string;
  readonly verbose?: boolean;
  readonly json?: boolean;
}

const EXIT_FAULTS = 1;
const LOGS_AT_ONCE = 3;
const MOST_THREADS = 64;

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
  const given = options.logKeys ? await readKeyFiles('--log-keys', options.logKeys) : [];
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
  threadCount(options);
  const config = parseConfig(process.env);
  if (config.databaseUrl === undefined) await requireEmbedded(config.dataDir);
  const database = await openDatabase(config, pino({ level: 'silent' }), { asItIs: true }).catch((error: Error) => {
    throw new UsageError(error.message);
  });
  try {
    return await auditOpen(database, config, options, terminal);
  } finally {
    await database.close();
  }
}

/** @throws {UsageError} if the file is unusable */
async function stateOf(
  { deploymentTenancy }: Deployment,
  { state, root, logKeys }: AuditOptions,
  keyring: AuditContext['keyring'],
): Promise<AuditState | undefined> {
  if (state === undefined) return undefined;
  const given = logKeys ? keyring.everyKey(['seal']).map(({ jwk }) => toHex(keyThumbprint(jwk))) : [];
  const audit = [deploymentTenancy, root ?? '', ...given.sort()].join(' ');
  return openAuditState(state, audit, { now: () => new Date(), monotonicMs: () => performance.now() }).catch(
    (error: unknown) => {
      throw error instanceof UnusableAuditState ? new UsageError(error.message) : error;
    },
  );
}

/** @throws {UsageError} */
function threadCount({ threads }: AuditOptions): number {
  if (threads === undefined) return Math.min(availableParallelism(), MOST_THREADS);
  if (!/^\d{1,2}$/.test(threads) || Number(threads) > MOST_THREADS)
    throw new UsageError(`--threads must be a number from 0 to ${MOST_THREADS}`);
  return Number(threads);
}

/** The embedded database has one connection, in this process. */
function threadsOf(
  { databaseUrl }: Config,
  options: AuditOptions,
  keyring: AuditContext['keyring'],
): AuditThreads | undefined {
  const count = threadCount(options);
  if (databaseUrl === undefined || count === 0 || !canStartAuditThreads()) return undefined;
  return startAuditThreads(count, { databaseUrl, issuerKeys: keyring.everyKey(['issuer']).map(({ jwk }) => jwk) });
}

/** Audits an open deployment. @throws {UsageError} if there is none in the database */
export async function auditOpen(
  database: Database,
  config: Config,
  options: AuditOptions,
  terminal: Terminal,
): Promise<AuditReport> {
  const faults: AuditFault[] = [];
  const deployment = await deploymentOf(database);
  const root = await knownRoot(config, deployment, options);
  const keyring = await keyringOf(database, deployment, options);
  const state = await stateOf(deployment, options, keyring);
  const threads = threadsOf(config, options, keyring);
  const begun = performance.now();
  const audited = await auditDeployment({
    threads,
    ...(state ? { progressOf: state.progressOf } : {}),
    database,
    deployment,
    objectStore: await openObjectStore(config.objectStore),
    verifySignature: signatureFitsApart,
    atOnce: LOGS_AT_ONCE,
    root,
    keyring,
    witnesses: config.witnessing.witnesses.map(({ key }) => key),
    quorum: config.witnessing.quorum,
    fault: (log, what) => {
      faults.push({ log, what });
      state?.fault(log, what);
    },
    progress: (log, leaves) => terminal.progress?.(`${log}: ${counted(String(leaves), 'leaf', 'leaves')}`),
  }).finally(() => threads?.close());
  await state?.finish();
  return auditReport(audited, faults, {
    began: state?.continues,
    seconds: (performance.now() - begun) / 1000,
    rootKnown: root.remembered !== undefined || root.thumbprint !== undefined,
  });
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
    .option(
      '--state <file>',
      'continue a stopped audit from this file, and keep the progress in it; delete it to audit from the start',
    )
    .option('--threads <number>', 'threads that read a PostgreSQL database; default: one for each processor')
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
        terminal.print(
          options.json
            ? jsonLines(report)
            : auditReportLines(report, { keysGiven: options.logKeys !== undefined, verbose: options.verbose ?? false }),
        );
        terminal.exitCode = report.sound ? 0 : EXIT_FAULTS;
      } catch (error) {
        giveNoVerdict(terminal, error, error instanceof UsageError || error instanceof ConfigError);
      }
    });
}
