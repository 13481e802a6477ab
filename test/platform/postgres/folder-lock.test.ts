import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lockFolder } from '../../../src/platform/postgres/folder-lock.js';

const SOURCE = fileURLToPath(new URL('../../../src/platform/postgres/folder-lock.ts', import.meta.url));

const NOBODY = 65_534;
const isLinux = globalThis.process.platform === 'linux';

let base: string;
let program: string;
let folders = 0;

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'lock-test-'));
  await build({
    entryPoints: [SOURCE],
    bundle: true,
    outfile: join(base, 'folder-lock.mjs'),
    format: 'esm',
    platform: 'node',
  });
  program = join(base, 'take.mjs');
  await writeFile(
    program,
    `import { lockFolder } from './folder-lock.mjs';
     lockFolder(process.argv[2]).then(
       () => { console.log('held'); setInterval(() => {}, 1000); },
       () => { console.log('refused'); });`,
  );
});
afterAll(() => rm(base, { recursive: true }));

const newFolder = () => join(base, `folder-${++folders}`);

/** Another process that takes the folder and keeps it until it is killed. */
async function taker(folder: string, uid?: number): Promise<{ process: ChildProcess; held: boolean }> {
  const process = spawn(globalThis.process.execPath, [program, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
    ...(uid === undefined ? {} : { uid }),
  });
  const [line] = (await once(process.stdout!, 'data')) as [Buffer];
  return { process, held: line.toString().startsWith('held') };
}

async function kill(process: ChildProcess): Promise<void> {
  if (process.exitCode !== null || process.signalCode !== null) return;
  const ended = once(process, 'exit');
  process.kill('SIGKILL');
  await ended;
}

describe('the lock of a folder', () => {
  it('is one process, and says which folder is in use', async () => {
    const folder = newFolder();
    const lock = await lockFolder(folder);
    await expect(lockFolder(folder)).rejects.toThrow(`another process uses ${folder}`);
    expect((await taker(folder)).held).toBe(false);
    await lock.release();
    await (await lockFolder(folder)).release();
  });

  it('is gone with its process: after kill -9 the next start has the folder, and leaves one socket', async () => {
    const folder = newFolder();
    for (let round = 0; round < 3; round += 1) {
      const other = await taker(folder);
      expect(other.held).toBe(true);
      await kill(other.process);
    }
    const lock = await lockFolder(folder);
    expect(await readdir(folder)).toEqual(['lock.4']);
    await lock.release();
  });

  it('goes to exactly one of many that start at once, also where a killed one left its socket', async () => {
    const folder = newFolder();
    for (let round = 0; round < 3; round += 1) {
      const takers = await Promise.all(Array.from({ length: 6 }, () => taker(folder)));
      expect(takers.filter(({ held }) => held)).toHaveLength(1);
      await Promise.all(takers.map(({ process }) => kill(process)));
    }
  });

  it.runIf(isLinux)('is kept by a process that does not run its loop, however many have asked it', async () => {
    const folder = newFolder();
    const { process } = await taker(folder);
    process.kill('SIGSTOP');
    // As many as wait for an answer where nobody accepts: those after them are refused in another way.
    const ask = () =>
      new Promise<string>((resolve) => {
        const socket = connect(join(folder, 'lock.1'));
        socket.once('connect', () => resolve('answered'));
        socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code!));
        socket.unref();
      });
    let last = '';
    for (let asked = 0; last !== 'EAGAIN' && asked < 20_000; asked += 1) last = await ask();
    const refused = await lockFolder(folder).then(String, String);
    await kill(process);
    expect(last).toBe('EAGAIN');
    expect(refused).toContain(`another process uses ${folder}`);
  });

  it.runIf(isLinux && globalThis.process.getuid?.() === 0)(
    'is not taken from a process of another user, whose socket may not be asked',
    async () => {
      const folder = newFolder();
      const { process } = await taker(folder);
      await chmod(base, 0o755);
      await chown(folder, NOBODY, NOBODY);
      const other = await taker(folder, NOBODY);
      await Promise.all([kill(process), kill(other.process)]);
      expect(other.held).toBe(false);
    },
  );

  it('works in a folder whose path is longer than a socket may have', async () => {
    const folder = join(newFolder(), 'x'.repeat(120), 'y'.repeat(60));
    await mkdir(folder, { recursive: true });
    const lock = await lockFolder(folder);
    await expect(lockFolder(folder)).rejects.toThrow('another process uses');
    await lock.release();
  });
});
