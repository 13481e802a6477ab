/** What a command answers through: lines for a person, and the exit code of the process. */
export interface Terminal {
  print(text: string): void;
  complain(text: string): void;
  /** How far long work has come, on a line that the next one replaces; absent where nobody watches. */
  progress?(text: string): void;
  exitCode: number;
}

/** Exit code for a command line that makes no sense, for files that cannot be read, and for a check that failed. */
export const EXIT_USAGE = 2;

/**
 * Says why a command that gives verdicts has none.
 * @param expected the error says what to change; any other one is a fault of the program, and is written in full
 */
export function giveNoVerdict(terminal: Terminal, error: unknown, expected: boolean): void {
  const { message, stack = message } = error instanceof Error ? error : new Error(String(error));
  terminal.complain(expected ? `error: ${message}` : `error: the check itself failed: ${stack}`);
  // 1 would be a verdict.
  terminal.exitCode = EXIT_USAGE;
}
