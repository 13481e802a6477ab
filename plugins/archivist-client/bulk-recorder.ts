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

/** How many of the first events fit into one request; at least one, however large it is. */
function sizeOfBatch(waiting: readonly Waiting[]): number {
  let bytes = 0;
  const size = waiting.findIndex((each, place) => {
    bytes += each.bytes;
    return place > 0 && (place >= MOST_EVENTS || bytes > MOST_BYTES);
  });
  return size < 0 ? waiting.length : size;
}

/** Tells each caller the outcome of its event; one without an outcome is sent by itself. */
function settle(
  batch: readonly Waiting[],
  outcomes: readonly BulkOutcome[],
  single: (item: BulkEvent) => Promise<string>,
): void {
  for (const [place, { item, resolve, reject }] of batch.entries()) {
    const outcome = outcomes[place];
    if (outcome === undefined) single(item).then(resolve, reject);
    else if ('identity' in outcome) resolve(outcome.identity);
    else reject(outcome.failure);
  }
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

  async function outcomesOf(batch: readonly Waiting[]): Promise<readonly BulkOutcome[]> {
    try {
      return await client.recordEvents(batch.map(({ item }) => item));
    } catch (error) {
      const isAbsent = NO_ENDPOINT.includes((error as Partial<EventRefused>).status ?? 0);
      // A proxy without a service behind it says so too: it is asked again with the next batch.
      if (error instanceof DeliverLater && isAbsent) return [];
      if (!(error instanceof EventRefused)) throw error;
      if (isAbsent) supported = false;
      return [];
    }
  }

  async function send(batch: readonly Waiting[]): Promise<void> {
    requests += 1;
    try {
      settle(batch, await outcomesOf(batch), single);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    requests -= 1;
    pump();
  }

  function pump(): void {
    gathering = false;
    while (requests < MOST_REQUESTS && waiting.length > 0) {
      const batch = waiting.slice(0, sizeOfBatch(waiting));
      waiting = waiting.slice(batch.length);
      void send(batch);
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
