import type { Command } from 'commander';
import { pino } from 'pino';
import { findDeployment } from '../archivist/deployment-store.js';
import { leafSource } from '../archivist/leaf-source.js';
import { statementSource } from '../archivist/statement-source.js';
import { unloggedEvents } from '../archivist/unlogged-events-store.js';
import { readKeyDocument } from '../core/cose/key-document.js';
import type { PublicJwk } from '../core/cose/public-key.js';
import type { AuditContext } from '../ledger/audit/audit-context.js';
import { auditLog } from '../ledger/audit/audit-log.js';
import { allLogs } from '../ledger/audit/audit-store.js';
import { ConfigError, parseConfig } from '../platform/config.js';
import { fileObjectStore } from '../platform/file-object-store.js';
import type { PublishedKey } from '../platform/keys/keyring.js';
import { nodeVerify } from '../platform/keys/node-verify.js';
import { listSigningKeys } from '../platform/keys/signing-key-store.js';
import type { Database } from '../platform/postgres/database.js';
import { openDatabase } from '../platform/postgres/open-database.js';
import { readInput, UsageError } from './evidence-file.js';
import { EXIT_USAGE, type Terminal } from './terminal.js';

interface AuditOptions {
  readonly logKeys?: readonly string[];
  readonly json?: boolean;
}

interface AuditReport {
  readonly sound: boolean;
  readonly logs: { name: string; leaves: string; seals: string; faults: number }[];
  readonly leavesPerSecond: number;
  readonly faults: string[];
}

const EXIT_FAULTS = 1;
const MOST_FAULTS = 200;

/** What a change would be found in, and what no log covers. */
const COVERED = [
  'Covered, so that a change is found: of asset events identity, asset_attributes, event_attributes, operation, behaviour,',
  'both principals, tenancy and the three timestamps; of asset-free events attributes, trails, identity, tenancy, event_type,',
  'created_by and created_at; registered and signed statements, every byte; of the logs leaf, trie key, idtimestamp of MMR',
  'logs, node, peak signature, seal, root, sizes.',
  'Not covered by a log: from_address of events, the current attributes and tracking of assets (they follow from events),',
  'blobs beyond the hash that an event names, idtimestamps of statement logs beyond their order, and all of identity and',
  'access but what the security audit put into the tenancy’s log.',
].join('\n');

function collect(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, value];
}

/** Keys from files where given: those of the database could have been changed together with what they sign. */
async function keyringOf(database: Database, options: AuditOptions): Promise<AuditContext['keyring']> {
  const given: PublicJwk[] = [];
  for (const path of options.logKeys ?? []) given.push(...readKeyDocument(await readInput(path)));
  const rows = await database.inTransaction('system', async (tx) => {
    const deployment = await findDeployment(tx);
    if (!deployment) throw new UsageError('this database has no deployment in it: the service never started on it');
    return listSigningKeys(tx, deployment.deploymentTenancy);
  });
  return {
    publicKeys: (roles) =>
      given.length > 0 && !roles.includes('issuer')
        ? given.map((jwk) => ({ jwk }) as PublishedKey)
        : rows
            .filter(({ role }) => roles.some((wanted) => wanted === role))
            .map((row) => ({ jwk: row.publicJwk as unknown as PublicJwk }) as PublishedKey),
  };
}

async function audit(options: AuditOptions, terminal: Terminal): Promise<AuditReport> {
  const config = parseConfig(process.env);
  const database = await openDatabase(config, pino({ level: 'silent' })).catch((error: Error) => {
    throw new UsageError(error.message);
  });
  try {
    const faults: string[] = [];
    const logs: AuditReport['logs'] = [];
    const begun = performance.now();
    const context: AuditContext = {
      database,
      objectStore: fileObjectStore(config.objectStoreDir),
      verifySignature: nodeVerify,
      leafSource,
      statementSource,
      keyring: await keyringOf(database, options),
      fault: (log, what) => void faults.push(`${log}: ${what}`),
      progress: (log, leaves) => terminal.progress?.(`${log}: ${leaves} leaves`),
    };
    for (const ref of await database.inTransaction('system', allLogs)) {
      const before = faults.length;
      const { name, leaves, seals } = await auditLog(context, ref);
      logs.push({ name, leaves: String(leaves), seals: String(seals), faults: faults.length - before });
    }
    const unlogged = await database.inTransaction('system', (tx) => unloggedEvents(tx, MOST_FAULTS));
    faults.push(...unlogged.map(({ tenantId, eventId }) => `tenant/${tenantId}: event ${eventId} was never accepted`));
    const leaves = logs.reduce((sum, log) => sum + Number(log.leaves), 0);
    const leavesPerSecond = Math.round(leaves / ((performance.now() - begun) / 1000));
    return { sound: faults.length === 0, logs, leavesPerSecond, faults };
  } finally {
    await database.close();
  }
}

function reportText({ sound, logs, leavesPerSecond, faults }: AuditReport, options: AuditOptions): string {
  const lines = logs.map((log) => {
    const verdict = log.faults === 0 ? 'ok    ' : 'FAULTY';
    return `${verdict}  ${log.name}: ${log.leaves} leaves, ${log.seals} seals${log.faults > 0 ? `, ${log.faults} faults` : ''}`;
  });
  const shown = faults.slice(0, MOST_FAULTS);
  const keys = options.logKeys
    ? []
    : ['', 'Log keys were taken from the database: give --log-keys to trust only what you obtained elsewhere.'];
  return [
    sound ? 'SOUND.' : `NOT SOUND: ${faults.length} faults.`,
    '',
    ...lines,
    ...(shown.length > 0 ? ['', ...shown] : []),
    ...(faults.length > shown.length ? [`… and ${faults.length - shown.length} more`] : []),
    '',
    `${leavesPerSecond} leaves a second.`,
    ...keys,
    '',
    COVERED,
  ].join('\n');
}

/**
 * `audit`: makes every log anew from its events and statements and compares all that is stored. Reads the database and
 * the object store of the environment; changes nothing. Exit code 0 when all is sound, 1 when not, 2 when it could not
 * begin.
 */
export function addAuditCommand(program: Command, terminal: Terminal): void {
  program
    .command('audit')
    .description(
      'make every log anew from its events and compare; reads DATABASE_URL, or DATA_DIR of a stopped service',
    )
    .option('--log-keys <file>', 'keys of the logs from elsewhere than this database; repeatable', collect)
    .option('--json', 'print one JSON document')
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
