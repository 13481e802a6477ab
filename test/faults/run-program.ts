import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { QUICK_START } from '../support/quick-start.js';
import type { Deployment } from './deployment.js';

const PROGRAM = fileURLToPath(new URL('../../dist/src/cli/vcon-archivist.js', import.meta.url));

/** Runs a command of the built program on a deployment, with this text as its standard input. */
export function runProgram(
  { folder, objectsDir, environment }: Deployment,
  args: readonly string[],
  input = '',
): Promise<{ code: number; out: string; err: string }> {
  const env = {
    PATH: process.env['PATH'] ?? '',
    DATA_DIR: join(folder, 'main'),
    KEYS_DIR: join(folder, 'keys'),
    OBJECT_STORE_URL: `file://${objectsDir}`,
    ...environment,
  };
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [...QUICK_START, PROGRAM, ...args], { env }, (error, out, err) =>
      resolve({ code: Number(error?.code ?? 0), out, err }),
    );
    child.stdin!.end(input);
  });
}
