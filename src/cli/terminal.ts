import { visibleLine } from '../core/evidence/visible-text.js';

/**
 * What a command answers through. Each text is one line: a line break or a control character in it is shown as an escape,
 * because names in evidence, answers of services and file names could otherwise write lines of their own.
 */
export interface Terminal {
  print(lines: string | readonly string[]): void;
  complain(lines: string | readonly string[]): void;
  /** How far long work has come, on a line that the next one replaces; absent where nobody watches. */
  progress?(text: string): void;
  exitCode: number;
}

/** Where the text of a command goes: each text is written as it is, and a line break after it. */
export interface Output {
  print(text: string): void;
  complain(text: string): void;
  progress?(text: string): void;
  exitCode: number;
}

/** Exit code for a command line that makes no sense, for files that cannot be read, and for a check that failed. */
export const EXIT_USAGE = 2;

/** Returns a terminal that writes to an output. */
export function plainTerminal(output: Output): Terminal {
  const shown = (lines: string | readonly string[]) => [lines].flat().map(visibleLine).join('\n');
  const { progress } = output;
  return {
    print: (lines) => output.print(shown(lines)),
    complain: (lines) => output.complain(shown(lines)),
    ...(progress ? { progress: (text: string) => progress(visibleLine(text)) } : {}),
    get exitCode() {
      return output.exitCode;
    },
    set exitCode(code: number) {
      output.exitCode = code;
    },
  };
}

/** Returns a document as JSON, indented by two spaces, as lines. */
export function jsonLines(document: object): string[] {
  return JSON.stringify(document, null, 2).split('\n');
}

/** Returns the stacks of an error and of its causes as lines: a message is one line, with any text in it. */
export function stackLines(error: unknown): string[] {
  const { message, stack = message, cause } = error instanceof Error ? error : new Error(String(error));
  const lines = stack.replace(message, visibleLine).split('\n');
  return cause === undefined ? lines : [...lines, 'caused by', ...stackLines(cause)];
}

/**
 * Says why a command that gives verdicts has none.
 * @param expected the error says what to change; any other one is a fault of the program, and is written in full
 */
export function giveNoVerdict(terminal: Terminal, error: unknown, expected: boolean): void {
  const [first, ...stack] = stackLines(error);
  terminal.complain(
    expected ? `error: ${(error as Error).message}` : [`error: the check itself failed: ${first}`, ...stack],
  );
  // 1 would be a verdict.
  terminal.exitCode = EXIT_USAGE;
}
