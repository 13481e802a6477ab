import { Command, CommanderError } from 'commander';
import { packageVersion } from '../service/package-version.js';
import { addAuditCommand } from './audit-command.js';
import { addBackupCommand } from './backup-command.js';
import { addExportCommand } from './export-command.js';
import { addKeysCommand } from './keys-command.js';
import { addLogsCommand } from './logs-command.js';
import { addMonitorCommand } from './monitor-command.js';
import { addMoveCommand } from './move-command.js';
import { addDoctorCommand } from './plugin/doctor-command.js';
import { addPluginCommand } from './plugin/plugin-command.js';
import { addQueueCommand } from './plugin/queue-command.js';
import { addRestoreCommand } from './restore-command.js';
import { addServeCommand } from './serve-command.js';
import { addTenancyCommand } from './tenancy-command.js';
import { EXIT_USAGE, type Output, plainTerminal, type Terminal } from './terminal.js';
import { addVerifyCommand } from './verify-command.js';

/** Every `<name>-command.ts` exports one of these and stands in the list below. */
type AddCommand = (program: Command, terminal: Terminal) => void;

const COMMANDS: readonly AddCommand[] = [
  addServeCommand,
  addVerifyCommand,
  addPluginCommand,
  addQueueCommand,
  addDoctorCommand,
  addTenancyCommand,
  addMonitorCommand,
  addKeysCommand,
  addLogsCommand,
  addAuditCommand,
  addExportCommand,
  addBackupCommand,
  addRestoreCommand,
  addMoveCommand,
];

/** What commander says of a command line that makes no sense: arguments may be names of files, from a pattern of the shell. */
function errorLines(text: string): string[] {
  const [, message = text, suggestion] = /^(.*)\n(\(Did you mean [-\w, ]+\?\))$/s.exec(text) ?? [];
  return suggestion === undefined ? [message] : [message, suggestion];
}

/** Runs one command line, without the program's name, and leaves the exit code in the output. */
export async function runCli(args: readonly string[], output: Output): Promise<void> {
  const terminal = plainTerminal(output);
  const program = new Command('vcon-archivist')
    .description('Evidence for conversations: check it, and run the service that makes it')
    .version(packageVersion())
    .showHelpAfterError('Run the same command with --help.')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.print(text.trimEnd().split('\n')),
      writeErr: (text) => terminal.complain(text.trimEnd().split('\n')),
      outputError: (text) => terminal.complain(errorLines(text.trimEnd())),
    });
  for (const add of COMMANDS) add(program, terminal);
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    terminal.exitCode = error.exitCode === 0 ? 0 : EXIT_USAGE;
  }
}
