/** What a command answers through: lines for a person, and the exit code of the process. */
export interface Terminal {
  print(text: string): void;
  complain(text: string): void;
  /** How far long work has come, on a line that the next one replaces; absent where nobody watches. */
  progress?(text: string): void;
  exitCode: number;
}

/** Exit code for a command line that makes no sense, and for files that cannot be read. */
export const EXIT_USAGE = 2;
