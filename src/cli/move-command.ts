import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { pino } from 'pino';
import { UsageError } from '../core/evidence/usage-error.js';
import { failureReason } from '../platform/explain-failure.js';
import { openDatabase } from '../platform/postgres/open-database.js';
import { endRestoring } from '../platform/postgres/table-copy-store.js';
import { type Config, ConfigError, parseConfig } from '../service/config/config.js';
import { auditOpen } from './audit-command.js';
import { counted } from './counted.js';
import { firstLines } from './first-lines.js';
import { examples } from './help-examples.js';
import { type Moved, moveDatabase } from './move/move-database.js';
import { rootThumbprint } from './root-option.js';
import { EXIT_USAGE, jsonLines, type Terminal } from './terminal.js';

interface MoveOptions {
  readonly to: string;
  readonly root?: string;
  readonly json?: boolean;
}

const EXIT_NOT_MOVED = 1;
const NOTHING_MOVED = 'Nothing is moved: the service can start on the embedded database.';
const MARKED_BEFORE = 'An earlier run marked the embedded database as moved: no service starts on either database.';

interface MoveReport extends Moved {
  readonly faults: readonly string[];
}

function moveConfig({ to, root }: MoveOptions): Config {
  const config = parseConfig(process.env);
  if (config.databaseUrl !== undefined)
    throw new UsageError(
      'DATABASE_URL is set: "move" reads the embedded database in DATA_DIR. Unset it, and name the server with --to',
    );
  if (!/^postgres(ql)?:\/\//.test(to)) throw new UsageError('--to must begin with postgres:// or postgresql://');
  if (root !== undefined) rootThumbprint(root);
  return config;
}

async function move(options: MoveOptions, terminal: Terminal): Promise<MoveReport> {
  const config = moveConfig(options);
  const target: Config = { ...config, databaseUrl: options.to };
  const faults: string[] = [];
  const moved = await moveDatabase({
    dataDir: config.dataDir,
    to: options.to,
    newId: randomUUID,
    progress: (text) => terminal.progress?.(text),
    async accept(finish) {
      const database = await openDatabase(target, pino({ level: 'silent' }), { restoring: true });
      try {
        const root = options.root === undefined ? {} : { root: options.root };
        faults.push(...(await auditOpen(database, target, root, terminal)).faults);
        if (faults.length > 0) return;
        await finish();
        await database.inTransaction('system', endRestoring);
      } finally {
        await database.close();
      }
    },
  });
  return { ...moved, faults };
}

function reportLines({ tables, rows, leaves, faults, resumed }: MoveReport): string[] {
  return [
    `Copied ${counted(tables, 'table')} with ${counted(rows, 'row')}; the logs have ${counted(leaves, 'leaf', 'leaves')}.`,
    ...firstLines(faults.map((fault) => `FAULT   ${fault}`)),
    ...(faults.length > 0
      ? [
          `The audit found ${counted(faults.length, 'fault')}. ${resumed ? MARKED_BEFORE : NOTHING_MOVED} See docs/operate/backup.md.`,
        ]
      : [
          'The audit found no fault. The embedded database is marked as moved: no service starts on it.',
          'Set DATABASE_URL to the server and start the service. Leave DATA_DIR, KEYS_DIR and OBJECT_STORE_URL as they are.',
        ]),
  ];
}

/**
 * `move --to <url>`: moves the embedded database to an empty one of a PostgreSQL server, and audits it there. Exit code
 * 0: it is moved; 1: it is not; 2: it could not start.
 */
export function addMoveCommand(program: Command, terminal: Terminal): void {
  program
    .command('move')
    .description('move the embedded database to a PostgreSQL server, while the service is stopped')
    .requiredOption('--to <url>', 'an empty database of a PostgreSQL server')
    .option('--root <fingerprint>', 'fingerprint of the root key, for the audit')
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples('vcon-archivist move --to postgres://archivist@db/archivist'))
    .action(async (options: MoveOptions) => {
      try {
        const report = await move(options, terminal);
        terminal.print(options.json ? jsonLines(report) : reportLines(report));
        terminal.exitCode = report.faults.length > 0 ? EXIT_NOT_MOVED : 0;
      } catch (error) {
        terminal.complain(`error: ${failureReason(error)}`);
        const usage = error instanceof UsageError || error instanceof ConfigError;
        terminal.exitCode = usage ? EXIT_USAGE : EXIT_NOT_MOVED;
      }
    });
}
