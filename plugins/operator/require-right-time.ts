import type { Clock } from '../../src/platform/clock.js';
import { clockOffset, MOST_OFFSET_MS } from '../../src/platform/clock-offset.js';
import { serviceTime } from '../archivist-client/service-time.js';
import { OperatorError } from './operator-error.js';

/**
 * What an operator records has the time of this machine for ever.
 * @param url base of the service, without `/archivist`
 * @throws {OperatorError} if the service contradicts the clock
 */
export async function requireRightTime(url: string, clock: Clock): Promise<void> {
  const time = await serviceTime(url, clock);
  const offsetMs = time ? clockOffset(time.otherMs, time.beforeMs, time.afterMs) : 0;
  if (Math.abs(offsetMs) <= MOST_OFFSET_MS) return;
  const apart = `${Math.round(Math.abs(offsetMs) / 1_000)} s ${offsetMs > 0 ? 'ahead of' : 'behind'} the service's`;
  throw new OperatorError(
    `the clock of this machine is ${apart}: correct it first, because the drop is recorded with it`,
  );
}
