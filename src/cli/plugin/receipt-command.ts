import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { pino } from 'pino';
import { keptReceipts } from '../../../plugins/operator/kept-receipts.js';
import { OperatorError } from '../../../plugins/operator/operator-error.js';
import { failureReason } from '../../platform/explain-failure.js';
import { ConfigError, parseConfig } from '../../service/config/config.js';
import { examples } from '../help-examples.js';
import { EXIT_USAGE, type Terminal } from '../terminal.js';

const EXIT_NOT_DONE = 1;

interface ReceiptOptions {
  readonly out?: string;
}

async function receipts(uuid: string, hash: string, out: string | undefined, terminal: Terminal): Promise<void> {
  const kept = Object.entries(await keptReceipts(parseConfig(process.env), pino({ level: 'silent' }), uuid, hash));
  for (const [job, { event, operation, statement, verifiedAt }] of kept) {
    terminal.print([`${operation}  ${event}`, `  job ${job}, verified ${verifiedAt}`]);
    if (out === undefined) continue;
    const file = kept.length === 1 ? out : `${out}.${job.slice(0, 8)}`;
    await writeFile(file, Buffer.from(statement, 'base64'), { flag: 'wx' });
    terminal.print(`  written to ${file}: check it with vcon-archivist verify`);
  }
}

/**
 * `plugin receipt`: shows the receipts that the plugin has fetched for one state of a vCon. Exit code 1: there is no such
 * receipt; 2: the configuration is invalid.
 */
export function addReceiptCommand(plugin: Command, terminal: Terminal): void {
  plugin
    .command('receipt')
    .description('show the receipts that the plugin keeps for one state of a vCon, and write them to files')
    .argument('<uuid>', 'UUID of the vCon')
    .argument('<hash>', 'SHA-256 of the vCon’s bytes, in hex')
    .option('--out <file>', 'write the transparent statement to this file; one file for each operation')
    .addHelpText(
      'after',
      examples('vcon-archivist plugin receipt <uuid> "$(sha256sum vcon.json | cut -d" " -f1)" --out statement.cose'),
    )
    .action(async (uuid: string, hash: string, { out }: ReceiptOptions) => {
      try {
        await receipts(uuid, hash, out, terminal);
      } catch (error) {
        const expected = error instanceof OperatorError || (error as NodeJS.ErrnoException).code !== undefined;
        if (!expected && !(error instanceof ConfigError)) throw error;
        terminal.complain(`error: ${failureReason(error)}`);
        terminal.exitCode = error instanceof ConfigError ? EXIT_USAGE : EXIT_NOT_DONE;
      }
    });
}
