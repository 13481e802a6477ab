import type { Clock } from '../../src/platform/clock.js';
import { failureReason } from '../../src/platform/explain-failure.js';
import type { QueueBackend } from '../../src/platform/queue/queue-backend.js';
import { deliveryState } from '../delivery/delivery-metrics.js';
import { broken, type Finding, ok, shouldChange } from './finding.js';

/** A delivery takes seconds; after an hour something is in its way. */
const LATE_SECONDS = 3600;

/** A queue that was opened to be looked at, or to be changed by an operator. */
export interface OperatorQueue {
  readonly backend: QueueBackend;
  close(): Promise<void>;
}

/**
 * Whether the queue answers, keeps what it is given, and gets rid of it. Adds no job to it, and never throws.
 * @param open may reject; then the reason is the finding
 */
export async function examineQueue(open: () => Promise<OperatorQueue>, clock: Clock): Promise<Finding[]> {
  try {
    const { backend, close } = await open();
    try {
      const { depth, oldestSeconds, deadLetters } = await deliveryState(backend, clock);
      const unkept = await backend.confirmDurable().then(() => undefined, failureReason);
      const waiting = `${depth} wait for delivery, on ${backend.engine}`;
      const minutes = Math.round(oldestSeconds / 60);
      return [
        ...(unkept
          ? [broken('durability', unkept, 'see that its disk and settings let it keep what it is given')]
          : []),
        oldestSeconds > LATE_SECONDS
          ? shouldChange('queue', `${waiting}, the oldest for ${minutes} min`, 'see that the plugin and service run')
          : ok('queue', waiting),
        deadLetters > 0
          ? shouldChange('dead letters', `${deadLetters}`, 'vcon-archivist queue; then queue replay or queue drop')
          : ok('dead letters', 'none'),
      ];
    } finally {
      await close();
    }
  } catch (error) {
    // Beside a running service that is how it should be; the operator learns that nothing was looked at.
    const found = failureReason(error);
    if (found.startsWith('the embedded queue'))
      return [shouldChange('queue', `not looked at: ${found}`, 'ask again when it is stopped, or see its /metrics')];
    return [broken('queue', found, 'correct REDIS_URL, DATABASE_URL or DATA_DIR, or start what they name')];
  }
}
