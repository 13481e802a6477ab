import { EventEmitter } from 'node:events';
import type { Job, Worker } from 'bullmq';
import type { Logger } from '../logger.js';
import type { QueueWorker } from './queue-backend.js';

const REST_MS = 1_000;

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
 * Keeps a worker of a queue until it is closed: one that could not be opened is closed and opened again. BullMQ asks the
 * store for its version once; if the answer is an error or unreadable, every later call of the same worker fails.
 */
export function keepWorker(name: string, open: () => Worker, logger: Logger): QueueWorker {
  const events = new EventEmitter<{ failed: [Job | undefined, Error]; error: [Error] }>();
  events.on('error', (error) => logger.warn({ err: error, queue: name }, 'a worker of the queue'));
  const closings = new Set<Promise<void>>();
  let again: NodeJS.Timeout | undefined;
  let closed = false;

  function close(worker: Worker): void {
    const closing = worker.close().finally(() => closings.delete(closing));
    closings.add(closing);
  }

  function start(): Worker {
    const worker = open();
    worker.on('failed', (job, error) => events.emit('failed', job, error));
    worker.on('error', (error) => {
      events.emit('error', error);
      restAfterError(worker);
    });
    worker.waitUntilReady().catch(() => {
      if (closed) return;
      close(worker);
      again = setTimeout(() => {
        current = start();
      }, REST_MS).unref();
    });
    return worker;
  }
  let current = start();

  return {
    on(event, listener) {
      events.on(event, listener);
    },
    async close() {
      closed = true;
      clearTimeout(again);
      close(current);
      await Promise.all(closings);
    },
  };
}
