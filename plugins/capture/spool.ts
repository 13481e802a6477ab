import { readdir, readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { createFile } from '../../src/platform/durable-file.js';
import type { Logger } from '../../src/platform/logger.js';
import { subjectUuid } from '../operation/operation-event.js';
import { operationJobId } from '../operation/operation-job.js';
import type { Captured, CaptureOperation, Ended } from './capture-operation.js';

const EXTENSION = '.operation';
const OWNER_ONLY = 0o600;
const DRAIN_EVERY_MS = 1_000;

/** Operations that the queue could not take, in files of this machine, until it can. */
export interface Spool {
  /** Resolves when the operation is on this disk. */
  keep(ended: Ended): Promise<Captured>;
  /** How many are kept. */
  depth(): Promise<number>;
  close(): Promise<void>;
}

async function kept(folder: string): Promise<string[]> {
  const files = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return files.filter((file) => file.endsWith(EXTENSION)).sort();
}

/**
 * A folder of files, one for each operation, named by when it was captured. They go to the queue in that order as soon as it
 * takes them; a crash between queue and file has one go twice, under the same id.
 */
export function openSpool(folder: string, capture: CaptureOperation, logger: Logger): Spool {
  let closed = false;
  let draining: Promise<void> = Promise.resolve();

  async function drain(): Promise<void> {
    for (const file of await kept(folder)) {
      if (closed) return;
      const path = join(folder, file);
      await capture(JSON.parse(await readFile(path, 'utf8')) as Ended);
      await unlink(path);
    }
  }

  const timer = setInterval(() => {
    draining = draining
      .then(drain)
      .catch((error: unknown) => logger.warn({ err: error }, 'operations wait on this disk'));
  }, DRAIN_EVERY_MS);

  return {
    async keep(ended) {
      const { operation, vcon, observed } = ended;
      const event = { subject: `vcon://${subjectUuid(vcon)}`, payload: vcon.payload };
      const job = operationJobId(operation, event);
      await createFile(
        join(folder, `${observed.sequence}-${job}${EXTENSION}`),
        Buffer.from(JSON.stringify(ended)),
        OWNER_ONLY,
      );
      return { job, ...event };
    },
    depth: async () => (await kept(folder)).length,
    async close() {
      closed = true;
      clearInterval(timer);
      await draining;
    },
  };
}
