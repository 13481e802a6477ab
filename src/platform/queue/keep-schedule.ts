import { defaultRepeatStrategy, ErrorCode, type RepeatOptions } from 'bullmq';
import { atIntervals } from '../at-intervals.js';
import type { Logger } from '../logger.js';
import type { QueueBackend, QueueSchedule } from './queue-backend.js';

const LOOK_EVERY_MS = 10_000;
/** Clocks of processes may differ by seconds, and a busy queue may run a job late. */
const SLACK_MS = 60_000;

/** The last time at which the next run may be due. */
async function latest(repeat: RepeatOptions, nowMs: number): Promise<number> {
  if (repeat.every !== undefined) return nowMs + repeat.every + SLACK_MS;
  return (await defaultRepeatStrategy(nowMs + SLACK_MS, repeat)) ?? nowMs;
}

function isTaken(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === ErrorCode.SchedulerJobIdCollision;
}

/**
 * Makes a schedule, and keeps it until it is closed: BullMQ computes the next run by the clock of the process that takes
 * the job, so that a process with a wrong clock can put it off by years, for all processes and beyond a restart. A
 * schedule that is due too late, or that the store has lost, is made again.
 * @throws for an invalid pattern
 */
export async function keepSchedule(
  { backend, logger }: { readonly backend: Pick<QueueBackend, 'queue'>; readonly logger: Logger },
  { queue: name, id, options, ...schedule }: QueueSchedule,
): Promise<{ close(): Promise<void> }> {
  const repeat: RepeatOptions = 'every' in schedule.repeat ? schedule.repeat : { ...schedule.repeat, tz: 'UTC' };
  const add = () => backend.queue(name).upsertJobScheduler(id, repeat, { name: id, opts: options });

  /**
   * The next run can have been done by a wrong clock already, or have failed then and been put off by years. Its record is
   * in the way, as it has the same id. One that is to be tried again is tried at once: only then its record can go.
   */
  async function make(): Promise<void> {
    await add().catch(async (error: unknown) => {
      if (!isTaken(error)) throw error;
      const queue = backend.queue(name);
      for (const state of ['completed', 'failed'] as const) await queue.clean(0, 0, state);
      for (const job of await queue.getDelayed()) if (job.id?.startsWith(`repeat:${id}:`)) await job.promote();
      await queue.removeJobScheduler(id);
      await add().catch((again: unknown) => {
        // It is being done right now, or is about to be: a later look makes the schedule.
        if (!isTaken(again)) throw again;
      });
    });
  }

  /** Whether it is there, and due in time. One that is due too late is removed: making it again would keep its time. */
  async function isRight(): Promise<boolean> {
    const known = await backend.queue(name).getJobScheduler(id);
    if (!known?.next) return false;
    if (known.next <= (await latest(repeat, Date.now()))) return true;
    logger.warn(
      { queue: name, due: new Date(known.next).toISOString() },
      'the next run of a schedule was too far in the future: the schedule is made again',
    );
    await backend.queue(name).removeJobScheduler(id);
    return false;
  }

  await isRight();
  await make();
  return atIntervals(LOOK_EVERY_MS, async () => {
    try {
      if (!(await isRight())) await make();
    } catch (error) {
      logger.debug({ err: error, queue: name }, 'the queue does not report its schedule');
    }
  });
}
