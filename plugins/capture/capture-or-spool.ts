import type { Logger } from '../../src/platform/logger.js';
import { within } from '../../src/platform/time-limit.js';
import { NO_HURRY } from './answer-window.js';
import type { CaptureOperation } from './capture-operation.js';
import type { Spool } from './spool.js';

/** If the queue takes longer than this, the local disk is used. */
const QUEUE_WITHIN_MS = 1_000;

/** Captures into the queue, or onto the local disk while the queue stores nothing. */
export function captureOrSpool(capture: CaptureOperation, spool: Spool, logger: Logger): CaptureOperation {
  return async (ended, window = NO_HURRY) => {
    try {
      return await within(QUEUE_WITHIN_MS, capture(ended, window), 'the queue did not keep it in time');
    } catch (error) {
      const captured = await spool.keep(ended, window);
      logger.warn(
        { err: error, job: captured.job },
        'an operation waits on the local disk: the queue did not store it',
      );
      return captured;
    }
  };
}
