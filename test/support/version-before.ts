import { execFile, spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FIXTURES = 'fixtures/upgrade';

/**
 * The commit of the newest released version: the one that added its upgrade fixture, which its own program wrote. Undefined
 * without the history of the repository, such as in an archive of the sources or a shallow clone.
 */
export const commitOfVersionBefore: string | undefined = findCommit();

function findCommit(): string | undefined {
  const git = (...args: string[]): string | undefined => {
    const { status, stdout } = spawnSync('git', ['-C', ROOT, ...args], { encoding: 'utf8' });
    return status === 0 ? stdout.trim() : undefined;
  };
  if (git('rev-parse', '--is-shallow-repository') !== 'false') return undefined;
  const version = readdirSync(join(ROOT, FIXTURES)).sort().at(-1)!;
  const fixture = `${FIXTURES}/${version}/root-fingerprint.txt`;
  return git('log', '-1', '--diff-filter=A', '--format=%H', '--', fixture) || undefined;
}

/**
 * Builds the program of a commit, with the packages of this version, which have not lost anything that it needs. Resolves
 * with the folder of the built sources; the caller removes `tree`.
 */
export async function buildVersion(commit: string, within: string): Promise<{ tree: string; dist: string }> {
  const tree = await mkdtemp(join(within, 'version-'));
  const archive = `${tree}.tar`;
  await run('git', ['-C', ROOT, 'archive', '--output', archive, commit]);
  await run('tar', ['-x', '-f', archive, '-C', tree]);
  await rm(archive);
  await symlink(join(ROOT, 'node_modules'), join(tree, 'node_modules'));
  await mkdir(join(tree, 'dist'), { recursive: true });
  await run('npm', ['run', 'build', '--silent'], { cwd: tree });
  return { tree, dist: join(tree, 'dist') };
}
