import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { notRun, serverUrl } from './prerequisites.js';
import { templateDatabase } from './template-database.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** A folder of this run, empty at first; the last part of its name is the run's. */
    runFolder: string;
  }
}

/** Gives the run a folder, in which the first test that needs a database leaves one for the others to copy. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const missing = notRun();
  if (process.env['CI'] && missing.length > 0) throw new Error(`in CI everything runs; missing: ${missing.join('; ')}`);
  const runFolder = await mkdtemp(join(tmpdir(), 'archivist-run-'));
  project.provide('runFolder', runFolder);
  return async () => {
    await rm(runFolder, { recursive: true, force: true });
    if (serverUrl) await dropTemplate(serverUrl, templateDatabase(basename(runFolder)));
  };
}

async function dropTemplate(url: string, name: string): Promise<void> {
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  await admin.end();
}
