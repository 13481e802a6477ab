import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { isPassingFault } from '../../src/platform/disk/file-system-fault.js';
import { removeFile } from '../../src/platform/durable-file.js';
import type { Logger } from '../../src/platform/logger.js';
import type { CaptureOperation } from './capture-operation.js';
import type { Ended } from './ended.js';
import { setFileAside, waitingFiles } from './spool-folder.js';

const DRAIN_EVERY_MS = 1_000;

/** Moves operations from files on this machine to the queue. */
export interface SpoolDrain {
  /**
   * Resolves when every operation that waited is in the queue.
   * @throws what the queue or the memory throws; then some of them still wait
   */
  drained(): Promise<void>;
  /** Ends it after the file that is on its way. */
  close(): Promise<void>;
}

/** What a file must contain to be captured; the plugin wrote the rest itself. */
const endedSchema = z.looseObject({
  operation: z.looseObject({ name: z.string() }),
  vcon: z.looseObject({ payload: z.string().regex(/^[0-9a-f]{64}$/) }),
  method: z.string(),
  observed: z.looseObject({ atMs: z.number(), sequence: z.string() }),
});

function readEnded(text: string): Ended | undefined {
  try {
    return endedSchema.parse(JSON.parse(text)) as unknown as Ended;
  } catch {
    return undefined;
  }
}

/** The text of a file, or why it has none. @throws if it can be read later: it keeps its place before those behind it */
async function contentOf(path: string): Promise<{ readonly text?: string; readonly err?: unknown }> {
  try {
    return { text: await readFile(path, 'utf8') };
  } catch (err) {
    if (isPassingFault(err)) throw err;
    return { err };
  }
}

/**
 * Drains the folder every second. Files go to the queue in the order of their names as soon as it accepts them. A crash
 * between queue and file sends one file twice, under the same id. A file that is not an operation is set aside.
 */
export function startSpoolDrain(folder: string, capture: CaptureOperation, logger: Logger): SpoolDrain {
  let closed = false;
  let draining: Promise<void> = Promise.resolve();

  async function drain(): Promise<void> {
    for (const file of await waitingFiles(folder)) {
      if (closed) return;
      const path = join(folder, file);
      const { text = '', err } = await contentOf(path);
      const ended = readEnded(text);
      if (!ended) await unusable(file, err);
      else if (await captured(file, ended)) await removeFile(path);
    }
  }

  /** The files behind one that is of no use must not wait for it. */
  async function unusable(file: string, err?: unknown): Promise<void> {
    logger.error({ file, ...(err ? { err } : {}) }, 'a file of the spool is not an operation: it is set aside');
    await setFileAside(folder, file);
  }

  /** @returns false if the file was set aside @throws what the queue or the memory throws */
  async function captured(file: string, ended: Ended): Promise<boolean> {
    try {
      await capture(ended);
      return true;
    } catch (error) {
      if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
      await unusable(file, error);
      return false;
    }
  }

  /** One after the other: a file that is created while the folder is drained is found by the next. */
  function drainInTurn(): Promise<void> {
    const drained = draining.then(drain);
    draining = drained.catch(() => undefined);
    return drained;
  }

  const timer = setInterval(() => {
    drainInTurn().catch((error: unknown) =>
      logger.warn({ err: error }, 'operations wait on the local disk until the queue answers'),
    );
  }, DRAIN_EVERY_MS);

  return {
    drained: drainInTurn,
    async close() {
      closed = true;
      clearInterval(timer);
      await draining;
    },
  };
}
