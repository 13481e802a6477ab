import { EventEmitter } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import type { Job, Worker } from 'bullmq';
import type { Logger } from '../logger.js';
import type { Processor, QueueWorker } from './queue-backend.js';

const REST_MS = 1_000;
const LOOK_EVERY_MS = 100;
/** Five seconds without a running job, for storing the last results. A stop of the whole service has 25 seconds. */
const LOOKS_WITHOUT_JOBS = 50;

/** After an error of the store, a worker asks again at once, for ever: without a rest it would use up a core. */
function restAfterError(worker: Worker): void {
  if (worker.isPaused() || worker.closing) return;
  const resume = (): void => {
    if (!worker.closing) worker.resume().catch(() => undefined);
  };
  worker.pause(true).then(
    () => setTimeout(resume, REST_MS).unref(),
    () => undefined,
  );
}

/**
 * Closes a worker after its running jobs, and gives up if BullMQ cannot finish. BullMQ first stores the result of each job,
 * which is impossible while the store is unreachable. It also hangs if its blocking connection is about to reconnect:
 * ioredis emits no `end` event then. A job whose result was not stored runs again.
 */
async function closeOrLose(worker: Worker, isReady: () => boolean, jobs: () => number): Promise<void> {
  if (!isReady()) return worker.close(true);
  let closed = false;
  const closing = worker.close().finally(() => {
    closed = true;
  });
  let looks = 0;
  while (!closed && isReady() && looks < LOOKS_WITHOUT_JOBS) {
    await Promise.race([closing, wait(LOOK_EVERY_MS)]);
    looks = jobs() === 0 ? looks + 1 : 0;
  }
}

/** What a worker does its jobs with. */
interface WorkerPlace {
  open(process: Processor): Worker;
  /** Whether the store can be reached now. */
  isReady(): boolean;
}

/**
 * Keeps a worker of a queue until it is closed: one that could not be opened is closed and opened again. BullMQ asks the
 * store for its version once; if the answer is an error or unreadable, every later call of the same worker fails.
 */
export function keepWorker(
  name: string,
  processor: Processor,
  { open, isReady }: WorkerPlace,
  logger: Logger,
): QueueWorker {
  const events = new EventEmitter<{ failed: [Job | undefined, Error]; error: [Error] }>();
  events.on('error', (error) => logger.warn({ err: error, queue: name }, 'a worker of the queue failed'));
  const closings = new Set<Promise<void>>();
  const running = new Set<Promise<unknown>>();
  let again: NodeJS.Timeout | undefined;
  let ending: Promise<void> | undefined;

  function process(job: Job): Promise<unknown> {
    const run = processor(job).finally(() => running.delete(run));
    running.add(run);
    return run;
  }

  function close(worker: Worker): void {
    const closing = closeOrLose(worker, isReady, () => running.size).finally(() => closings.delete(closing));
    closings.add(closing);
  }

  function start(): Worker {
    const worker = open(process);
    worker.on('failed', (job, error) => events.emit('failed', job, error));
    worker.on('error', (error) => {
      events.emit('error', error);
      restAfterError(worker);
    });
    worker.waitUntilReady().catch(() => {
      if (ending) return;
      close(worker);
      again = setTimeout(() => {
        current = start();
      }, REST_MS).unref();
    });
    return worker;
  }
  let current = start();

  async function end(): Promise<void> {
    clearTimeout(again);
    close(current);
    await Promise.all(closings);
    await Promise.allSettled(running);
  }

  return {
    on(event, listener) {
      events.on(event, listener);
    },
    close() {
      ending ??= end();
      return ending;
    },
  };
}
