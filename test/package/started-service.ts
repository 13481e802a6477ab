import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { freePort } from '../support/free-port.js';

/** A service that a test started as a stranger would. */
export interface StartedService {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Starts a program in a folder with nothing but a port and a data folder, and waits until `/readyz` answers 200.
 * @throws {Error} with what the program wrote when it ends first
 */
export async function startService(folder: string, program: string, args: readonly string[]): Promise<StartedService> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const env = { PATH: process.env['PATH'] ?? '', PORT: String(port), PLUGIN_PORT: '0', DATA_DIR: `${folder}/data` };
  const child = spawn(program, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let written = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (written += text));
  const ended = once(child, 'close');
  const died = ended.then(() => Promise.reject(new Error(`the service ended before it was ready:\n${written}`)));
  await Promise.race([ready(url), died]);
  died.catch(() => {});
  return {
    url,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

async function ready(url: string): Promise<void> {
  for (;;) {
    const status = await fetch(`${url}/readyz`).then(
      (answer) => answer.status,
      () => 0,
    );
    if (status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
