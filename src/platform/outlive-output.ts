/**
 * Lets a program that runs until it is stopped go on when its output cannot be written, because the disk is full, the
 * reader has ended or the terminal is gone. What it writes meanwhile is lost.
 */
export function outliveOutput(): void {
  // The command line has listeners that end the other commands.
  for (const stream of [process.stdout, process.stderr])
    stream.removeAllListeners('error').on('error', () => undefined);
}
