import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import type { Engine } from './engines.js';
import type { Finding } from './goal-row.js';
import { median } from './statistics.js';

const MEASURED = 50;
/** About as much as a commit's part of the write-ahead log. */
const WRITTEN_BYTES = 8192;

/** What must be on disk before an answer, each step after the one before. */
interface DurableSteps {
  readonly commits: number;
  /** Files that get their name in the object store. */
  readonly files: number;
}

/** The time of these steps on the disks of an engine, if nothing else took any time. */
export async function durableFloor(engine: Engine, { commits, files }: DurableSteps): Promise<Finding['floor']> {
  const written = await writtenMs(engine.environment['DATA_DIR']!);
  const databaseUrl = engine.environment['DATABASE_URL'];
  const commit = databaseUrl === undefined ? written : await commitMs(databaseUrl);
  const trips = databaseUrl === undefined ? '' : ', each commit in one round trip';
  const why = `ms until ${commits} commits and ${files} files of ${WRITTEN_BYTES} bytes are on disk, one after the other${trips}`;
  return { figure: commits * commit + files * written, why };
}

async function medianMs(step: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let count = 0; count < MEASURED; count += 1) {
    const begun = performance.now();
    await step();
    times.push(performance.now() - begun);
  }
  return median(times);
}

/** Of a write to a file until it is on disk. */
async function writtenMs(folder: string): Promise<number> {
  const path = join(folder, 'durable-floor');
  const file = await open(path, 'w');
  try {
    const bytes = new Uint8Array(WRITTEN_BYTES);
    return await medianMs(async () => {
      await file.write(bytes);
      await file.sync();
    });
  } finally {
    await file.close();
    await rm(path);
  }
}

/** Of the smallest transaction that the server must write to its log. */
async function commitMs(databaseUrl: string): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return await medianMs(() => client.query(`SELECT pg_logical_emit_message(true, 'bench', 'floor')`));
  } finally {
    await client.end();
  }
}
