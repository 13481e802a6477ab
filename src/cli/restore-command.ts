import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { pino } from 'pino';
import { UsageError } from '../core/evidence/usage-error.js';
import { failureReason } from '../platform/explain-failure.js';
import { openDatabase } from '../platform/postgres/open-database.js';
import { endRestoring } from '../platform/postgres/table-copy-store.js';
import { ConfigError, parseConfig } from '../service/config/config.js';
import { auditOpen } from './audit-command.js';
import { COPIES, completeCopies } from './backup/copy-manifest.js';
import { openServerAlone } from './backup/database-source.js';
import { recipientsIn } from './backup/sealed-secrets.js';
import { counted } from './counted.js';
import { firstLines } from './first-lines.js';
import { examples } from './help-examples.js';
import { type RestoredCopy, type RestoreRequest, restoreCopy } from './restore/restore-copy.js';
import { rootThumbprint } from './root-option.js';
import { EXIT_USAGE, jsonLines, type Terminal } from './terminal.js';

interface RestoreOptions {
  readonly copy?: string;
  readonly identity?: string;
  readonly withoutKeys?: boolean;
  readonly nothingPublishedSince?: boolean;
  readonly haltLogs?: boolean;
  readonly root?: string;
  readonly despiteFaults?: boolean;
  readonly json?: boolean;
}

interface Restored extends RestoredCopy {
  readonly copy: string;
  readonly faults: readonly string[];
  /** Whether a service may start now. */
  readonly open: boolean;
}

const EXIT_FAULTS = 1;
const EXIT_HALTED = 3;
/** A copy that is older than the object store has these faults, which are reported as halted logs and a halted chain. */
const OLDER_THAN_STORE = /the object store has (seal|generation|key manifest|block) \d+/;

async function requestOf(folder: string, options: RestoreOptions, terminal: Terminal): Promise<RestoreRequest> {
  const name = options.copy ?? (await completeCopies(folder)).at(-1);
  if (name === undefined) throw new UsageError(`${folder} has no complete copy: give the folder that "backup" wrote`);
  if ((options.identity === undefined) === !options.withoutKeys)
    throw new UsageError(
      'give --identity <file> to decrypt the keys, or --without-keys if KEYS_DIR is already in place',
    );
  if (options.nothingPublishedSince && options.haltLogs)
    throw new UsageError('give only one of --nothing-published-since and --halt-logs');
  if (options.root !== undefined) rootThumbprint(options.root);
  const identities =
    options.identity === undefined
      ? undefined
      : recipientsIn(
          await readFile(options.identity, 'utf8').catch(() => {
            throw new UsageError(`--identity: cannot read ${options.identity}`);
          }),
        );
  return {
    config: parseConfig(process.env),
    backup: resolve(folder),
    copy: join(resolve(folder), COPIES, name),
    identities,
    since: options.haltLogs ? 'halt the logs' : options.nothingPublishedSince ? 'nothing was published' : undefined,
    progress: (text) => terminal.progress?.(text),
  };
}

async function restore(folder: string, options: RestoreOptions, terminal: Terminal): Promise<Restored> {
  const request = await requestOf(folder, options, terminal);
  const { config } = request;
  // The embedded database is locked by its folder.
  const alone = config.databaseUrl ? await openServerAlone(config.databaseUrl, 'DATABASE_URL') : undefined;
  try {
    return await restoreAndAudit(request, options, terminal);
  } finally {
    await alone?.close();
  }
}

async function restoreAndAudit(
  request: RestoreRequest,
  options: RestoreOptions,
  terminal: Terminal,
): Promise<Restored> {
  const restored = await restoreCopy(request);
  const { config } = request;
  const database = await openDatabase(config, pino({ level: 'silent' }), { restoring: true });
  try {
    const report = await auditOpen(
      database,
      config,
      options.root === undefined ? {} : { root: options.root },
      terminal,
    );
    const faults = report.faults.filter((fault) => !OLDER_THAN_STORE.test(fault));
    const open = faults.length === 0 || options.despiteFaults === true;
    if (open) await database.inTransaction('system', endRestoring);
    return { ...restored, copy: request.copy, faults, open };
  } finally {
    await database.close();
  }
}

function reportLines(
  { copy, manifest, objects, published, halted, haltedChain, faults, open }: Restored,
  withoutKeys: boolean,
): string[] {
  const { later } = published;
  const names = new Map(manifest.logs.map(({ log, name }) => [log, name]));
  return [
    `Restored ${copy} of ${manifest.madeAt}: ${counted(manifest.tables.length, 'table')}, ${counted(objects, 'object')}; every hash is as in the manifest.`,
    ...(later.length > 0
      ? [`The object store has newer objects than this copy, ${later.length} in all:`, ...firstLines(later)]
      : []),
    ...[...halted].map(([log, reason]) => `HALTED  ${names.get(log)}: ${reason}`),
    ...(haltedChain === undefined ? [] : [`HALTED  chain: ${haltedChain}`]),
    ...(halted.size > 0
      ? [
          'Halted logs sign nothing more. Restore a newer database if there is one; if it is lost, keep this one for reading and start a new deployment. See docs/operate/backup.md and docs/operate/halted-log.md.',
        ]
      : []),
    ...(haltedChain === undefined ? [] : ['A halted chain gets no more blocks. See docs/operate/halted-log.md.']),
    ...firstLines(faults.map((fault) => `FAULT   ${fault}`)),
    faults.length === 0 ? 'The audit found no fault.' : `The audit found ${counted(faults.length, 'fault')}.`,
    open
      ? `The service can start${withoutKeys ? ' if KEYS_DIR has the keys of this deployment' : ''}.`
      : 'No service starts on the restored data. Restore an older copy, or give --despite-faults to start with these faults.',
  ];
}

function exitCode({ open, halted, haltedChain }: Restored): number {
  if (!open) return EXIT_FAULTS;
  return halted.size > 0 || haltedChain !== undefined ? EXIT_HALTED : 0;
}

/**
 * `restore <folder>`: fills an empty place from a copy and audits it before a service may start. Exit code 0: all is
 * restored; 1: the audit found faults, or the restore failed; 2: it could not start; 3: restored, and logs or the chain
 * are halted.
 */
export function addRestoreCommand(program: Command, terminal: Terminal): void {
  program
    .command('restore')
    .description('fill an empty DATA_DIR or DATABASE_URL from a backup folder, and audit it before a service may start')
    .argument('<folder>', 'the folder that "backup" wrote')
    .option('--copy <name>', 'name of the copy in <folder>/copies; default: the newest complete copy')
    .option('--identity <file>', 'age identity that decrypts the keys')
    .option('--without-keys', 'do not restore keys: KEYS_DIR is already in place')
    .option(
      '--nothing-published-since',
      'the service published nothing after this copy, for example because it was stopped',
    )
    .option('--halt-logs', 'the service may have published something after this copy: halt every log')
    .option('--root <fingerprint>', 'fingerprint of the root key, for the audit')
    .option('--despite-faults', 'let the service start even if the audit finds faults')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      examples(
        'vcon-archivist restore /backup/archivist --identity key.txt --nothing-published-since',
        'DATABASE_URL=postgres://archivist@db/archivist vcon-archivist restore /backup/archivist --without-keys --halt-logs',
      ),
    )
    .action(async (folder: string, options: RestoreOptions) => {
      try {
        const restored = await restore(folder, options, terminal);
        terminal.print(
          options.json ? jsonLines(documentOf(restored)) : reportLines(restored, options.withoutKeys === true),
        );
        terminal.exitCode = exitCode(restored);
      } catch (error) {
        terminal.complain(`error: ${failureReason(error)}`);
        const usage = error instanceof UsageError || error instanceof ConfigError;
        terminal.exitCode = usage ? EXIT_USAGE : EXIT_FAULTS;
      }
    });
}

function documentOf({ copy, manifest, objects, published, halted, haltedChain, faults, open }: Restored): object {
  return {
    copy,
    made_at: manifest.madeAt,
    objects,
    later_objects: published.later,
    halted: Object.fromEntries(halted),
    halted_chain: haltedChain ?? '',
    faults,
    service_can_start: open,
  };
}
