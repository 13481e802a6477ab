import { uptime } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { Gauge, type Registry } from 'prom-client';
import type { Clock } from '../../src/platform/clock.js';
import { type ClockWatch, createClockWatch } from '../../src/platform/clock-watch.js';
import type { Logger } from '../../src/platform/logger.js';
import { serviceTime } from '../archivist-client/service-time.js';
import type { Closable } from './start-capture-methods.js';

const LOOK_EVERY_MS = 5_000;
/** While nothing contradicts the clock, the service is asked at each twelfth look: once a minute. */
const LOOKS_WHILE_RIGHT = 12;
/** Captures do not wait longer than this for a service that does not answer. */
const FIRST_ANSWER_WITHIN_MS = 1_000;

/** Reports whether the clock of a plugin is wrong; returns what a clock watch calls. */
export function clockMetrics(registry: Registry): Parameters<typeof createClockWatch>[0]['changed'] {
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers: [registry] });
  const isWrong = gauge(
    'conserver_link_clock_wrong',
    '1 while the plugin delivers nothing, because its clock is wrong',
  );
  const offset = gauge('conserver_link_clock_offset_seconds', 'How far the clock is ahead of the service’s');
  return ({ wrong, offsetMs }) => {
    isWrong.set(wrong ? 1 : 0);
    offset.set(offsetMs / 1_000);
  };
}

/**
 * Watches the clock of a plugin in a process of its own: compares it with the service's at the start, then once a minute,
 * and every five seconds while it is wrong. A service that does not answer, or that knows its own clock to be wrong, tells
 * nothing.
 * @param parts.url base of the service, without `/archivist`
 */
export async function watchServiceClock(parts: {
  readonly url: string;
  readonly clock: Clock;
  readonly registry: Registry;
  readonly logger: Logger;
}): Promise<ClockWatch & Closable> {
  const { url, clock, registry, logger } = parts;
  const clockWatch = createClockWatch({
    clock,
    uptimeMs: () => uptime() * 1_000,
    monotonicMs: () => performance.now(),
    endMs: Number.POSITIVE_INFINITY,
    other: "the service's",
    meanwhile: 'operations are captured without a time and not delivered',
    logger,
    changed: clockMetrics(registry),
  });
  let comparing: Promise<void> | undefined;
  let looks = 0;

  async function compare(): Promise<void> {
    looks = 0;
    const time = await serviceTime(url, clock);
    if (time) clockWatch.compare(time.otherMs, time.beforeMs, time.afterMs);
    comparing = undefined;
  }

  comparing = compare();
  await Promise.race([comparing, wait(FIRST_ANSWER_WITHIN_MS)]);
  const timer = setInterval(() => {
    looks += 1;
    if (clockWatch.fault() !== undefined || looks >= LOOKS_WHILE_RIGHT) comparing ??= compare();
  }, LOOK_EVERY_MS).unref();
  return {
    ...clockWatch,
    async close() {
      clearInterval(timer);
      await comparing;
    },
  };
}
