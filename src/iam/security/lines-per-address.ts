import { openAttemptLimiter } from '../../platform/attempt-limiter.js';
import type { Logger } from '../../platform/logger.js';

/** Maximum lines per minute about one address: enough to notice, too few to fill a disk. */
const LINES = 10;

/** Writes a line about an address, unless there were ten within a minute. Never fails. */
export type LinesPerAddress = (address: string, write: () => void) => void;

export function openLinesPerAddress(name: string, logger: Logger): LinesPerAddress {
  const lines = openAttemptLimiter({ name, attempts: LINES, seconds: 60, redisUrl: undefined, logger });

  async function tell(address: string, write: () => void): Promise<void> {
    if ((await lines.count(address)).shutFor === undefined) write();
  }

  return (address, write) => {
    tell(address, write).catch((error: unknown) => logger.error({ err: error }, 'a refusal could not be logged'));
  };
}
