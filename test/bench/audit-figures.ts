import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Engine } from './engines.js';

const PROGRAM = fileURLToPath(new URL('../../src/cli/vcon-archivist.js', import.meta.url));
const MOST_OUTPUT = 16 * 1024 * 1024;

/** How fast every log of a service was made anew from its events, and compared with all that is stored. */
export interface AuditFigures {
  readonly leaves: number;
  /** From the open database to the verdict, the start of the threads included. */
  readonly leavesPerSecond: number;
  /** Until the database was open, and after the verdict. */
  readonly startSeconds: number;
}

/**
 * Runs `vcon-archivist audit` beside a running service, the way an operator would.
 * @throws {Error} when it cannot run, or does not find the logs sound
 */
export async function measureAudit(engine: Engine): Promise<AuditFigures> {
  const { PATH = '', HOME = '' } = process.env;
  const env = { PATH, HOME, ...engine.environment };
  const begun = performance.now();
  const printed = await new Promise<string>((resolve, reject) => {
    execFile(
      process.execPath,
      [PROGRAM, 'audit', '--json'],
      { env, maxBuffer: MOST_OUTPUT },
      (error, stdout, stderr) =>
        stdout === '' ? reject(new Error(`the audit did not run: ${error?.message ?? ''} ${stderr}`)) : resolve(stdout),
    );
  });
  const seconds = (performance.now() - begun) / 1000;
  const { sound, logs, leavesPerSecond, faults } = JSON.parse(printed);
  if (!sound) throw new Error(`the audit found ${faults.length} faults, such as: ${faults[0]}`);
  const leaves = logs.reduce((sum: number, log: { leaves: string }) => sum + Number(log.leaves), 0);
  return { leaves, leavesPerSecond, startSeconds: seconds - leaves / leavesPerSecond };
}
