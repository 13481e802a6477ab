#!/usr/bin/env node
import { failureReason } from '../platform/explain-failure.js';
import { runCli } from './run-cli.js';
import { EXIT_USAGE, type Output, plainTerminal, stackLines } from './terminal.js';

/** Carriage return and "erase to the end of the line": each line replaces the one before it. */
function showProgress(text: string): void {
  process.stderr.write(`\r${text}\u001b[K\r`);
}

// A reader of the output may have read enough, as `head` has: what was found decides how the program ends. On a full disk,
// nobody reads what was found, and 1 would be a verdict.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE' || stream === process.stderr) return;
    process.stderr.write(`error: the output cannot be written: ${failureReason(error)}\n`);
    process.exit(EXIT_USAGE);
  });

const output: Output = {
  print: (text) => process.stdout.write(`${text}\n`),
  complain: (text) => process.stderr.write(`${text}\n`),
  ...(process.stderr.isTTY ? { progress: showProgress } : {}),
  get exitCode() {
    return Number(process.exitCode ?? 0);
  },
  set exitCode(code: number) {
    process.exitCode = code;
  },
};
try {
  await runCli(process.argv.slice(2), output);
} catch (error) {
  plainTerminal(output).complain(stackLines(error));
  process.exit(1);
}
