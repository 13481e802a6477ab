import { setTimeout as wait } from 'node:timers/promises';
import { ApiError } from './errors.js';

/** Makes uploads wait for the rate limit, in the order in which they arrive. */
interface UploadQueue {
  /**
   * Resolves with the result of `admit` as soon as it does not refuse with rate_limited; rejects with that refusal if the
   * queue is full or the wait would be too long.
   * @param key whose uploads wait for each other
   * @param gone aborted when the client has disconnected: it leaves the queue
   */
  admit<Admitted>(key: string, admit: () => Promise<Admitted>, gone: AbortSignal): Promise<Admitted>;
}

interface UploadQueueLimits {
  /** The longest wait. Shorter than the 30 seconds after which common clients give up. */
  readonly waitMs: number;
  /** Maximum number of waiting uploads: of one key, and in this process. */
  readonly perKey: number;
  readonly total: number;
}

const UPLOAD_QUEUE: UploadQueueLimits = { waitMs: 20_000, perKey: 64, total: 512 };

/**
 * A client that retries an upload has often read its file to the end and then sends an empty one, so an upload is
 * delayed where another request is refused. Its body stays in the network: a waiting upload costs a connection.
 */
export function createUploadQueue(limits: UploadQueueLimits = UPLOAD_QUEUE): UploadQueue {
  /** The last upload of each key, and how many wait. */
  const queues = new Map<string, { tail: Promise<unknown>; waiting: number }>();
  let total = 0;

  async function inTurn<Admitted>(
    before: Promise<unknown>,
    admit: () => Promise<Admitted>,
    gone: AbortSignal,
    until: number,
  ): Promise<Admitted> {
    await before;
    for (;;) {
      if (gone.aborted) throw new ApiError('bad_request', 'The client has disconnected.');
      try {
        return await admit();
      } catch (error) {
        const seconds = secondsToWait(error);
        if (seconds === undefined || performance.now() + seconds * 1000 > until) throw error;
        await wait(seconds * 1000, undefined, { signal: gone }).catch(() => undefined);
      }
    }
  }

  return {
    async admit(key, admit, gone) {
      const queue = queues.get(key) ?? { tail: Promise.resolve(), waiting: 0 };
      if (queue.waiting >= limits.perKey || total >= limits.total) return admit();
      queues.set(key, queue);
      const admitted = inTurn(queue.tail, admit, gone, performance.now() + limits.waitMs);
      queue.tail = admitted.catch(() => undefined);
      queue.waiting += 1;
      total += 1;
      try {
        return await admitted;
      } finally {
        queue.waiting -= 1;
        total -= 1;
        if (queue.waiting === 0) queues.delete(key);
      }
    },
  };
}

/** Undefined for an error that no wait changes. */
function secondsToWait(error: unknown): number | undefined {
  if (!(error instanceof ApiError) || error.code !== 'rate_limited') return undefined;
  const seconds = Number(error.headers['archivist-rate-limit-reset']);
  return seconds > 0 ? seconds : undefined;
}
