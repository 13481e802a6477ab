import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const run = (script: string, ...options: string[]) =>
  spawnSync(process.execPath, [`scripts/${script}`, ...options], { cwd: ROOT, encoding: 'utf8', timeout: 20_000 });

it.each(['soak.mjs', 'make-upgrade-fixture.mjs', 'build-pages.mjs'])(
  '%s prints its usage: for --help with status 0, for an unknown option as an error with 2',
  (script) => {
    const help = run(script, '--help');
    expect([help.status, help.stdout, help.stderr]).toEqual([0, expect.stringContaining('usage: '), '']);
    const wrong = run(script, '--nope');
    expect([wrong.status, wrong.stdout]).toEqual([2, '']);
    expect(wrong.stderr).toMatch(/^error: .*--nope.*\nusage: .*\n$/);
  },
);

it('soak.mjs names the engines and the form of the hours to whoever gives others', () => {
  const ends = (...options: string[]) => {
    const { status, stderr } = run('soak.mjs', ...options);
    return [status, stderr];
  };
  expect(ends('--engine', 'postgres')).toEqual([2, expect.stringContaining('--engine must be embedded or PostgreSQL')]);
  expect(ends('--hours', 'two')).toEqual([2, expect.stringContaining('--hours must be a number greater than 0')]);
});
