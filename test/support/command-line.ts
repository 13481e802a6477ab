import { runCli } from '../../src/cli/run-cli.js';

/** What a command has written, and how it ended. */
export interface CommandResult {
  readonly out: string;
  readonly err: string;
  /** Both, in the order in which they were written. */
  readonly said: string;
  readonly exitCode: number;
}

/**
 * Runs a command of `vcon-archivist` in this process.
 * @param environment variables that it sees beside those of the tests
 */
export async function commandLine(
  args: readonly string[],
  environment?: Readonly<Record<string, string>>,
): Promise<CommandResult> {
  const [out, err, said]: [string[], string[], string[]] = [[], [], []];
  const into = (lines: string[]) => (text: string) => {
    lines.push(text);
    said.push(text);
  };
  const terminal = { print: into(out), complain: into(err), exitCode: 0 };
  const before = process.env;
  if (environment) process.env = { ...before, ...environment };
  await runCli(args, terminal).finally(() => {
    process.env = before;
  });
  return { out: out.join('\n'), err: err.join('\n'), said: said.join('\n'), exitCode: terminal.exitCode };
}
