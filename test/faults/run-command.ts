import { join } from 'node:path';
import { commandLine } from '../support/command-line.js';
import type { Deployment } from './deployment.js';

/**
 * Runs a command on a deployment in this process: a start of the built program costs more than most commands. For one that
 * asks a question or opens a database, see `runProgram`.
 */
export async function runCommand(
  { folder, objectsDir, environment }: Deployment,
  args: readonly string[],
): Promise<{ code: number; out: string; err: string }> {
  const { exitCode, out, err } = await commandLine(args, {
    DATA_DIR: join(folder, 'main'),
    KEYS_DIR: join(folder, 'keys'),
    OBJECT_STORE_URL: `file://${objectsDir}`,
    ...environment,
  });
  return { code: exitCode, out, err };
}
