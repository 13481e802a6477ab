import { Command, CommanderError } from 'commander';
import { visibleLine, visibleText } from '../core/evidence/visible-text.js';
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
import { EXIT_USAGE, type Terminal } from './terminal.js';
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

/** What comes from elsewhere is shown, and does nothing else. */
function plainTerminal(outside: Terminal): Terminal {
  const { progress } = outside;
  return {
    print: (text) => outside.print(visibleText(text)),
    complain: (text) => outside.complain(visibleText(text)),
    ...(progress ? { progress: (text: string) => progress(visibleLine(text)) } : {}),
    get exitCode() {
      return outside.exitCode;
    },
    set exitCode(code: number) {
      outside.exitCode = code;
    },
  };
}

/** Runs one command line, without the program's name, and leaves the exit code in the terminal. */
export async function runCli(args: readonly string[], outside: Terminal): Promise<void> {
  const terminal = plainTerminal(outside);
  const program = new Command('vcon-archivist')
    .description('Evidence for conversations: check it, and run the service that makes it')
    .version(packageVersion())
    .showHelpAfterError('See the same command with --help.')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.print(text.trimEnd()),
      writeErr: (text) => terminal.complain(text.trimEnd()),
    });
  for (const add of COMMANDS) add(program, terminal);
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    terminal.exitCode = error.exitCode === 0 ? 0 : EXIT_USAGE;
  }
}
