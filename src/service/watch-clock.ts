import { uptime } from 'node:os';
import { EPOCH_END_MS } from '../core/massif/idtimestamp.js';
import { lastSealedMs } from '../ledger/last-sealed-store.js';
import { atIntervals } from '../platform/at-intervals.js';
import type { Clock } from '../platform/clock.js';
import { type ClockWatch, createClockWatch } from '../platform/clock-watch.js';
import type { Logger } from '../platform/logger.js';
import type { Database } from '../platform/postgres/database.js';
import { databaseTime } from '../platform/postgres/database-time-store.js';

const COMPARE_MS = 5_000;

/** Returns the watch over the clock of a service; it is not compared with the database's yet. */
export function serviceClock(
  clock: Clock,
  logger: Logger,
  changed: Parameters<typeof createClockWatch>[0]['changed'],
): ClockWatch {
  return createClockWatch({
    clock,
    uptimeMs: () => uptime() * 1_000,
    monotonicMs: () => performance.now(),
    endMs: EPOCH_END_MS,
    other: "the database's",
    meanwhile: 'nothing is accepted or signed',
    logger,
    changed,
  });
}

/** Compares the clock with the last seals now, and with the database's clock now and every few seconds. */
export async function watchClock(parts: {
  readonly database: Database;
  readonly clock: Clock;
  readonly clockWatch: ClockWatch;
  readonly logger: Logger;
}): Promise<{ close(): Promise<void> }> {
  const { database, clock, clockWatch, logger } = parts;

  const compare = (): Promise<void> =>
    database.inTransaction('system', async (tx) => {
      const beforeMs = clock.now();
      const otherMs = await databaseTime(tx);
      clockWatch.compare(otherMs, beforeMs, clock.now());
    });

  const sealedMs = await database.inTransaction('system', lastSealedMs);
  if (sealedMs !== undefined) clockWatch.notBefore(sealedMs);
  await compare();
  return atIntervals(COMPARE_MS, () =>
    compare().catch((error: unknown) => logger.debug({ err: error }, 'the database does not tell its time')),
  );
}
