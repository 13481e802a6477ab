import { chmod, mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { lacking, serverUrl } from './prerequisites.js';
import { templateDatabase } from './template-database.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** A folder of this run, empty at first; the last part of its name is the run's. */
    runFolder: string;
  }
}

/** Bytes: many embedded clusters. */
const ROOMY = 4 * 2 ** 30;

/**
 * Gives the run a folder for everything that a test keeps for a while; the first one that needs a database leaves one
 * there for the others to copy.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const missing = lacking();
  if (process.env['CI'] && missing.length > 0) throw new Error(`in CI everything runs; missing: ${missing.join('; ')}`);
  const runFolder = await mkdtemp(join(await scratch(), 'archivist-run-'));
  // A test's PostgreSQL may run as a user of its own.
  await chmod(runFolder, 0o755);
  process.env['TMPDIR'] = runFolder;
  project.provide('runFolder', runFolder);
  return async () => {
    await rm(runFolder, { recursive: true, force: true });
    if (serverUrl) await dropTemplate(serverUrl, templateDatabase(basename(runFolder)));
  };
}

/** What kills a process leaves alone what the operating system holds: memory serves, where there is much, and is quicker. */
async function scratch(): Promise<string> {
  const memory = '/dev/shm';
  const free = await statfs(memory).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  );
  return free > ROOMY ? memory : tmpdir();
}

async function dropTemplate(url: string, name: string): Promise<void> {
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  await admin.end();
}
