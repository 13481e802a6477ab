import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { embeddedDataDir } from '../support/engines.js';
import { freePort } from '../support/free-port.js';
import { QUICK_START } from '../support/quick-start.js';

const STARTED_WITHIN_MS = 60_000;
let dataDir: string;
let full: number;
let child: ChildProcess | undefined;

beforeAll(async () => {
  dataDir = await embeddedDataDir();
  full = openSync('/dev/full', 'w');
});
afterAll(async () => {
  child?.kill('SIGKILL');
  closeSync(full);
  await rm(dataDir, { recursive: true, force: true });
});

async function answers(url: string): Promise<boolean> {
  const { ok } = await fetch(url).catch(() => ({ ok: false }));
  return ok;
}

it.each([
  ['main', []],
  ['cli/vcon-archivist', ['serve']],
])(
  'a service whose output cannot be written runs until it is stopped: %s',
  async (program, args) => {
    const [PORT, PATH] = [String(await freePort()), process.env['PATH'] ?? ''];
    const file = fileURLToPath(new URL(`../../dist/src/${program}.js`, import.meta.url));
    child = spawn(process.execPath, [...QUICK_START, file, ...args], {
      env: { PATH, PORT, PLUGIN_PORT: '0', DATA_DIR: dataDir, LOG_LEVEL: 'trace' },
      stdio: ['ignore', full, full],
    });
    const ended = once(child, 'close');
    const url = `http://127.0.0.1:${PORT}/readyz`;
    for (const until = Date.now() + STARTED_WITHIN_MS; !(await answers(url)) && Date.now() < until; )
      await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 100))]);
    // A refused request is a line in the log.
    await fetch(`http://127.0.0.1:${PORT}/archivist/v2/assets`, { headers: { authorization: 'Bearer x' } });
    expect(await answers(url)).toBe(true);
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  },
  120_000,
);
