import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Finished, finished, succeeded } from './finished.js';

const SOURCES = fileURLToPath(new URL('go', import.meta.url));
/** The oldest that the pinned libraries build with. */
const OLDEST_MINOR = 24;

const MODULES_MS = 300_000;

const minor = goMinor();
const hasModules = minor >= OLDEST_MINOR && fetchesModules();
if (minor < OLDEST_MINOR)
  console.log(`Not run: interoperability with Go libraries, for there is no Go 1.${OLDEST_MINOR}.`);
else if (!hasModules) console.log('Not run: interoperability with Go libraries, for their modules cannot be fetched.');

/** Whether this machine has a Go that can build the checks, and what they are built of. */
export const hasGo = hasModules;

function goMinor(): number {
  const answer = spawnSync('go', ['env', 'GOVERSION'], { encoding: 'utf8' }).stdout;
  return Number(/^go1\.(\d+)/.exec(answer ?? '')?.[1] ?? 0);
}

function fetchesModules(): boolean {
  const arguments_ = ['-C', SOURCES, 'mod', 'download'];
  return spawnSync('go', arguments_, { stdio: 'ignore', timeout: MODULES_MS }).status === 0;
}

/** The checks in `go/`, built. */
export interface GoChecks {
  run(...arguments_: string[]): Promise<Finished>;
  remove(): Promise<void>;
}

/** Builds exactly what go.sum pins. @throws when a module cannot be fetched, or is another than that */
export async function buildGoChecks(): Promise<GoChecks> {
  const folder = await mkdtemp(join(tmpdir(), 'archivist-go-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  const program = join(folder, 'statementlog');
  try {
    await succeeded('go', '-C', SOURCES, 'build', '-mod=readonly', '-o', program, '.');
  } catch (error) {
    await remove();
    throw error;
  }
  return { run: (...arguments_) => finished(program, arguments_), remove };
}
