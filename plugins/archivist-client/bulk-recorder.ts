import type { ArchivistClient, BulkEvent, BulkOutcome } from './archivist-client.js';
import { DeliverLater, EventRefused } from './delivery-failure.js';

/** Most events of a batch, and how long the first one waits for others. */
const MOST_EVENTS = 500;
const MOST_BYTES = 4 * 1024 * 1024;
const GATHER_MS = 5;
/** Concurrent requests; while they run, the next batch grows. */
const MOST_REQUESTS = 2;
/** Statuses of a service without this endpoint. */
const NO_ENDPOINT = [404, 405];

interface Waiting {
  readonly item: BulkEvent;
  readonly bytes: number;
  resolve(identity: string): void;
  reject(reason: unknown): void;
}

/**
 * A client that sends many events in one request, each with its own key and outcome. If the service has no bulk
 * endpoint or refuses the whole batch, it sends the events one by one.
 */
export function bulkRecorder(client: ArchivistClient): ArchivistClient {
  let waiting: Waiting[] = [];
  let gathering = false;
  let requests = 0;
  let supported = true;

  const single = ({ assetIdentity, event, idempotencyKey }: BulkEvent): Promise<string> =>
    client.recordEvent(assetIdentity, event, idempotencyKey);

  function take(): Waiting[] {
    let bytes = 0;
    const count = waiting.findIndex((each, place) => {
      bytes += each.bytes;
      return place > 0 && (place >= MOST_EVENTS || bytes > MOST_BYTES);
    });
    const batch = count < 0 ? waiting : waiting.slice(0, count);
    waiting = count < 0 ? [] : waiting.slice(count);
    return batch;
  }

  async function outcomesOf(batch: readonly Waiting[]): Promise<readonly BulkOutcome[] | undefined> {
    try {
      return await client.recordEvents(batch.map(({ item }) => item));
    } catch (error) {
      const isAbsent = NO_ENDPOINT.includes((error as Partial<EventRefused>).status ?? 0);
      // A proxy without a service behind it says so too: it is asked again with the next batch.
      if (error instanceof DeliverLater && isAbsent) return undefined;
      if (!(error instanceof EventRefused)) throw error;
      if (isAbsent) supported = false;
      return undefined;
    }
  }

  async function send(batch: readonly Waiting[]): Promise<void> {
    const outcomes = await outcomesOf(batch);
    for (const [place, { item, resolve, reject }] of batch.entries()) {
      const outcome = outcomes?.[place];
      if (outcome === undefined) single(item).then(resolve, reject);
      else if ('identity' in outcome) resolve(outcome.identity);
      else reject(outcome.failure);
    }
  }

  function pump(): void {
    gathering = false;
    while (requests < MOST_REQUESTS && waiting.length > 0) {
      const batch = take();
      requests += 1;
      void send(batch)
        .catch((error: unknown) => {
          for (const { reject } of batch) reject(error);
        })
        .finally(() => {
          requests -= 1;
          pump();
        });
    }
  }

  return {
    ...client,
    recordEvent(assetIdentity, event, idempotencyKey) {
      const item = { assetIdentity, event, idempotencyKey };
      if (!supported) return single(item);
      return new Promise((resolve, reject) => {
        waiting.push({ item, bytes: JSON.stringify(event).length, resolve, reject });
        if (waiting.length >= MOST_EVENTS) pump();
        else if (!gathering) setTimeout(pump, GATHER_MS);
        gathering = waiting.length > 0;
      });
    },
  };
}
