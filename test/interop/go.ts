import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Finished, finished, succeeded } from './finished.js';

const SOURCES = fileURLToPath(new URL('go', import.meta.url));
/** The oldest that the pinned libraries build with. */
const OLDEST_MINOR = 24;

/** Whether this machine has a Go that can build the checks. */
export const hasGo = goMinor() >= OLDEST_MINOR;
if (!hasGo) console.log(`Not run: interoperability with Go libraries, for there is no Go 1.${OLDEST_MINOR}.`);

function goMinor(): number {
  try {
    const version = execFileSync('go', ['env', 'GOVERSION'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    return Number(/^go1\.(\d+)/.exec(version)?.[1] ?? 0);
  } catch {
    return 0;
  }
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
