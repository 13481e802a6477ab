import { execFile, spawn } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type EmptyFolder, emptyFolder, REPOSITORY } from '../package/empty-folder.js';
import { freePort } from '../support/free-port.js';
import { QUICK_START } from '../support/quick-start.js';
import { documentPages } from './pages.js';

interface Block {
  readonly page: string;
  readonly language: string;
  readonly code: string;
}

const blocks: Block[] = documentPages().flatMap(({ path, text }) =>
  [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map((match) => ({
    page: path,
    language: match[1]!,
    code: match[2]!,
  })),
);

/** Blocks that install, start or test this very repository: other tests and CI run them. */
const RUN_ELSEWHERE = /^npm (ci|test|run|start)\b/;
/** Pages whose commands go on where another page's end, with its files and variables. */
const AFTER: Readonly<Record<string, string>> = { 'docs/verify.md': 'docs/get-started.md' };

describe('the documents’ blocks', () => {
  it('name a language that this test knows how to check', () => {
    const known = ['', 'sh', 'ts', 'yaml', 'json', 'http', 'python', 'cddl', 'toml'];
    expect(blocks.filter(({ language }) => !known.includes(language))).toEqual([]);
  });

  it.each(blocks.filter(({ language }) => language === 'json').map(({ page, code }) => [page, code]))(
    'hold JSON that parses: %s',
    (_, code) => {
      expect(() => JSON.parse(code)).not.toThrow();
    },
  );

  it.each(blocks.filter(({ language }) => language === 'yaml').map(({ page, code }) => [page, code]))(
    'hold YAML that parses: %s',
    (_, code) => {
      expect(() => parse(code)).not.toThrow();
    },
  );
});

describe('the documents’ commands', () => {
  const shellPages = [...new Set(blocks.filter(({ language }) => language === 'sh').map(({ page }) => page))];
  /** Pages that are read one after the other, each page in one of them. */
  const readings = shellPages
    .filter((page) => !Object.values(AFTER).includes(page))
    .map((page) => [...(AFTER[page] ? [AFTER[page]] : []), page]);
  let folder: EmptyFolder;
  let stop: () => Promise<void>;
  let ports: { service: number; plugin: number };
  beforeAll(async () => {
    folder = await emptyFolder();
    await symlink(join(REPOSITORY, 'fixtures'), join(folder.path, 'fixtures'));
    await symlink(join(REPOSITORY, 'plugins'), join(folder.path, 'plugins'));
    // `npx vcon-archivist` is the program of this repository, as it is in its own folder.
    await mkdir(join(folder.path, 'node_modules/.bin'), { recursive: true });
    const program = join(folder.path, 'node_modules/.bin/vcon-archivist');
    const cli = join(REPOSITORY, 'dist/src/cli/vcon-archivist.js');
    const command = [process.execPath, ...QUICK_START, cli].map((word) => `"${word}"`).join(' ');
    await writeFile(program, `#!/bin/sh\nexec ${command} "$@"\n`, { mode: 0o755 });
    await symlink(join(REPOSITORY), join(folder.path, 'node_modules/vcon-archivist'));
    ports = { service: await freePort(), plugin: await freePort() };
    stop = await startService(folder.path, ports);
  }, 120_000);
  afterAll(async () => {
    await stop?.();
    await folder?.remove();
  });

  /** The documents' own ports may be taken on this machine. */
  const onPorts = (code: string) =>
    code
      .replaceAll('127.0.0.1:8080', `127.0.0.1:${ports.service}`)
      .replaceAll('127.0.0.1:8081', `127.0.0.1:${ports.plugin}`);
  const commandsOf = (page: string) =>
    blocks
      .filter((block) => block.page === page && block.language === 'sh' && !RUN_ELSEWHERE.test(block.code))
      .map(({ code }) => onPorts(code))
      .join('\n');

  it.each(readings.map((pages) => [pages.join(', '), pages] as const))(
    'run, one after the other: %s',
    async (_, pages) => {
      const script = ['set -euo pipefail', ...pages.map(commandsOf)].join('\n');
      // The command line finds the service as in `npm start`'s own folder, on a port of the test's.
      const environment = {
        PATH: `${folder.path}/node_modules/.bin:${process.env['PATH'] ?? ''}`,
        PORT: String(ports.service),
      };
      const said = await folder.run('bash', ['-c', script], environment);
      const verified = [...said.matchAll(/VERIFIED\./g)];
      expect(verified).toHaveLength([...script.matchAll(/vcon-archivist verify /g)].length);
    },
    180_000,
  );

  it.each(blocks.filter(({ language }) => language === 'ts').map(({ page, code }) => [page, code]))(
    'compile as TypeScript, strictly: %s',
    async (_, code) => {
      await writeFile(join(folder.path, 'snippet.mts'), code);
      const tsc = join(REPOSITORY, 'node_modules/.bin/tsc');
      const options = '--noEmit --strict --module nodenext --target es2023 --skipLibCheck --types node --typeRoots';
      const types = join(REPOSITORY, 'node_modules/@types');
      const compile = promisify(execFile)(tsc, [...options.split(' '), types, 'snippet.mts'], { cwd: folder.path });
      await expect(compile).resolves.toMatchObject({ stdout: '' });
    },
    60_000,
  );
});

/** The service as `npm start` runs it, with its data in the folder's `data`. */
async function startService(path: string, ports: { service: number; plugin: number }): Promise<() => Promise<void>> {
  const env = { PATH: process.env['PATH'] ?? '', PORT: String(ports.service), PLUGIN_PORT: String(ports.plugin) };
  const main = join(REPOSITORY, 'dist/src/main.js');
  const child = spawn(process.execPath, [...QUICK_START, main], {
    cwd: path,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (data: Buffer) => data.includes('Stop with') && resolve());
    child.once('close', () => reject(new Error('the service ended')));
  });
  return async () => {
    child.kill('SIGTERM');
    await ended;
  };
}
