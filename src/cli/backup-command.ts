import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { UsageError } from '../core/evidence/usage-error.js';
import { failureReason } from '../platform/explain-failure.js';
import { ConfigError, parseConfig } from '../service/config/config.js';
import { openDatabaseSource } from './backup/database-source.js';
import { type MadeCopy, makeCopy } from './backup/make-copy.js';
import { recipientsIn } from './backup/sealed-secrets.js';
import { collect } from './collect.js';
import { counted } from './counted.js';
import { firstLines } from './first-lines.js';
import { examples } from './help-examples.js';
import { OperatorRefused } from './operator-client.js';
import { EXIT_USAGE, jsonLines, type Terminal } from './terminal.js';

interface BackupOptions {
  readonly recipient?: readonly string[];
  readonly recipientsFile?: string;
  readonly withoutKeys?: boolean;
  readonly url?: string;
  readonly json?: boolean;
}

const EXIT_NOT_DONE = 1;

async function recipientsOf(options: BackupOptions): Promise<readonly string[] | undefined> {
  const given = [...(options.recipient ?? [])];
  if (options.recipientsFile !== undefined) {
    const text = await readFile(options.recipientsFile, 'utf8').catch(() => {
      throw new UsageError(`--recipients-file: cannot read ${options.recipientsFile}`);
    });
    given.push(...recipientsIn(text));
  }
  if (options.withoutKeys && given.length === 0) return undefined;
  if (given.length === 0 || options.withoutKeys)
    throw new UsageError(
      'give --recipient <age1…> to encrypt the keys to, or --without-keys if you back up KEYS_DIR yourself',
    );
  return given;
}

async function backup(folder: string, options: BackupOptions, terminal: Terminal): Promise<MadeCopy> {
  const config = parseConfig(process.env);
  const recipients = await recipientsOf(options);
  const owner = await openDatabaseSource(config, (options.url ?? config.publicUrl).replace(/\/+$/, ''));
  try {
    const progress = (text: string) => terminal.progress?.(text);
    return await makeCopy(owner, { config, folder: resolve(folder), recipients, now: new Date(), progress });
  } finally {
    await owner.close();
  }
}

function reportLines({ name, manifest, sha256, addedObjects, missing, damaged }: MadeCopy): string[] {
  const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0);
  const leaves = manifest.logs.reduce((sum, log) => sum + log.leaves, 0);
  return [
    `Copy ${name} is complete.`,
    `Database: ${counted(manifest.tables.length, 'table')}, ${counted(rows, 'row')}; ${counted(manifest.logs.length, 'log')} with ${counted(leaves, 'leaf', 'leaves')}.`,
    `Objects: ${manifest.objects.count}, of which ${addedObjects} ${addedObjects === 1 ? 'is' : 'are'} new in this folder.`,
    manifest.keys === 'encrypted' ? 'Keys: encrypted in keys.zip.age.' : 'Keys: not copied. Back up KEYS_DIR yourself.',
    ...firstLines(missing.map((key) => `MISSING from the object store: ${key}`)),
    ...(damaged === undefined
      ? []
      : [
          `DAMAGED: the earlier copy ${damaged} cannot be restored, because its list of objects cannot be read. All objects were copied again. Delete its folder.`,
        ]),
    `SHA-256 of its manifest: ${sha256}`,
  ];
}

/**
 * `backup <folder>`: copies the database, its objects and the keys while the service runs. Exit code 0: the copy is
 * complete; 1: it is not, or objects are missing from the object store; 2: it could not start.
 */
export function addBackupCommand(program: Command, terminal: Terminal): void {
  program
    .command('backup')
    .description('copy the database, its objects and the keys to a folder, while the service runs; see docs/operate')
    .argument('<folder>', 'folder of the copies; objects that an earlier copy in it has are not copied again')
    .option('--recipient <age1…>', 'age recipient that the keys are encrypted to; repeatable', collect)
    .option('--recipients-file <file>', 'file of age recipients, one a line')
    .option('--without-keys', 'do not copy KEYS_DIR')
    .option('--url <url>', 'the running service with an embedded database; default: PUBLIC_URL')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      examples(
        'vcon-archivist backup /backup/archivist --recipient age1…',
        'DATABASE_URL=postgres://archivist@db/archivist vcon-archivist backup /backup/archivist --without-keys',
      ),
    )
    .action(async (folder: string, options: BackupOptions) => {
      try {
        const made = await backup(folder, options, terminal);
        const { name, sha256, addedObjects, missing, damaged, manifest } = made;
        const { objects, logs, keys, madeAt } = manifest;
        const document = {
          ...{ name, sha256, made_at: madeAt, objects, added_objects: addedObjects, missing, logs, keys },
          damaged_copy: damaged ?? '',
        };
        terminal.print(options.json ? jsonLines(document) : reportLines(made));
        terminal.exitCode = missing.length > 0 ? EXIT_NOT_DONE : 0;
      } catch (error) {
        terminal.complain(`error: ${failureReason(error)}`);
        const usage = error instanceof UsageError || error instanceof ConfigError || error instanceof OperatorRefused;
        terminal.exitCode = usage ? EXIT_USAGE : EXIT_NOT_DONE;
      }
    });
}
