import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const STARTS_WITHIN_MS = 60_000;
const STOPS_WITHIN_MS = 10_000;

/** A server in a process of its own. */
export interface ServerProcess {
  readonly url: string;
  readonly pid: number;
  /** What it had printed when it told its address. */
  readonly printed: string;
  /** Asks it to end, and ends it by force when it does not. */
  stop(): Promise<void>;
}

/**
 * Starts a program of this build and waits until it prints the address that it listens on. It sees this environment and
 * no other; what it complains of goes to our own standard error.
 * @throws {Error} when it ends before that, or takes too long
 */
export async function startProgram(program: URL, environment: Record<string, string>): Promise<ServerProcess> {
  const { PATH = '', HOME = '', TMPDIR = '/tmp' } = process.env;
  const child = spawn(process.execPath, [fileURLToPath(program)], {
    env: { PATH, HOME, TMPDIR, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  // Whatever way this process ends, nothing that it started is left behind.
  const leaveNothing = (): void => void child.kill('SIGKILL');
  process.once('exit', leaveNothing);
  child.once('exit', () => process.off('exit', leaveNothing));
  try {
    return { ...(await announcement(child)), pid: child.pid!, stop: () => stop(child) };
  } catch (error) {
    await stop(child);
    throw error;
  }
}

function announcement(child: ChildProcess): Promise<Pick<ServerProcess, 'url' | 'printed'>> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error('a server did not start in time')), STARTS_WITHIN_MS);
    let printed = '';
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      printed = (printed + text).slice(-4096);
      const url = /listens on (http:\S+)\s/.exec(printed)?.[1];
      if (!url) return;
      clearTimeout(late);
      resolve({ url, printed });
    });
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      clearTimeout(late);
      reject(new Error(`a server ended while it started (${signal ?? code})`));
    });
  });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const force = setTimeout(() => child.kill('SIGKILL'), STOPS_WITHIN_MS);
  await ended;
  clearTimeout(force);
}
