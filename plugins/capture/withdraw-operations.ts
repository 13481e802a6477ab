import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from '../../src/platform/logger.js';
import { HELD_MS, type HeldOperation } from './held-operation.js';

const EVERY_MS = 250;

/**
 * Removes refused operations from the queue. Until that succeeds, no worker of this process delivers them, and further
 * captures of the vCon wait. One that a worker has delivered in the meantime stays: nothing takes it out of the log.
 */
export async function withdrawOperations(
  { withdrawn, logger }: { readonly withdrawn: Set<string>; readonly logger: Logger },
  operations: readonly HeldOperation[],
): Promise<void> {
  for (const { job } of operations) withdrawn.add(job);
  for (let attempt = 0; attempt * EVERY_MS < HELD_MS; attempt += 1) {
    try {
      for (const held of operations) {
        if (!(await held.withdraw()))
          logger.error({ job: held.job }, 'an operation is recorded although its caller was refused');
        withdrawn.delete(held.job);
      }
      return;
    } catch (error) {
      if (attempt === 0)
        logger.warn({ err: error }, 'a refused operation could not be removed from the queue; this is retried');
      // The process may end meanwhile.
      await wait(EVERY_MS, undefined, { ref: false });
    }
  }
  logger.error(
    { jobs: operations.map(({ job }) => job) },
    'operations may be recorded although their callers were refused',
  );
}
