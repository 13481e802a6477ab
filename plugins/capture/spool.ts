import { DiskFull, isNoSpace } from '../../src/platform/disk/disk-full.js';
import type { DiskWatch } from '../../src/platform/disk/disk-watch.js';
import { createFile, removeFile } from '../../src/platform/durable-file.js';
import type { Logger } from '../../src/platform/logger.js';
import { TimeLimitError } from '../../src/platform/time-limit.js';
import { subjectOf } from '../operation/operation-event.js';
import { operationJobId } from '../operation/operation-job.js';
import { type AnswerWindow, NO_HURRY } from './answer-window.js';
import type { Captured, CaptureOperation } from './capture-operation.js';
import type { Ended } from './ended.js';
import { type SpoolDrain, startSpoolDrain } from './spool-drain.js';
import { spoolPath, waitingFiles } from './spool-folder.js';

const OWNER_ONLY = 0o600;

/** Operations in files on this machine, until the queue can take them. */
export interface Spool extends SpoolDrain {
  /**
   * Resolves when the operation is on the local disk.
   * @throws {DiskFull} when the disk has no room; then no file is left
   * @throws {TimeLimitError} when its caller was refused in the meantime; then it is not stored
   */
  keep(ended: Ended, window?: AnswerWindow): Promise<Captured>;
  /** Whether an operation waits. */
  isWaiting(): Promise<boolean>;
}

/**
 * A folder with one file for each operation, named by the time of its capture. Files go to the queue in that order as
 * soon as it accepts them.
 */
export function openSpool(folder: string, capture: CaptureOperation, disk: DiskWatch, logger: Logger): Spool {
  return {
    ...startSpoolDrain(folder, capture, logger),
    async keep(ended, window = NO_HURRY) {
      const { operation, vcon, observed } = ended;
      const event = { subject: subjectOf(vcon), payload: vcon.payload };
      const job = operationJobId(operation, event);
      const path = spoolPath(folder, observed, job);
      disk.requireRoom('spool');
      await createFile(path, Buffer.from(JSON.stringify(ended)), OWNER_ONLY).catch((error: unknown) => {
        if (!isNoSpace(error)) throw error;
        disk.report('spool');
        throw new DiskFull('spool');
      });
      if (window.isRefused()) {
        await removeFile(path);
        throw new TimeLimitError('this disk did not keep it in time');
      }
      return { job, ...event };
    },
    isWaiting: async () => (await waitingFiles(folder)).length > 0,
  };
}
