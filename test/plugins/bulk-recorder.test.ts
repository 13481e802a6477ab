import { describe, expect, it } from 'vitest';
import type { ArchivistClient, BulkEvent, BulkOutcome } from '../../plugins/archivist-client/archivist-client.js';
import { bulkRecorder } from '../../plugins/archivist-client/bulk-recorder.js';
import { DeliverLater, EventRefused } from '../../plugins/archivist-client/delivery-failure.js';

type Bulk = (items: readonly BulkEvent[]) => Promise<readonly BulkOutcome[]>;

/** A service at the other end of the client's own interface, which writes down what it was sent. */
function recorder(bulk: Bulk) {
  const sent: { batches: number[]; single: string[] } = { batches: [], single: [] };
  const client = {
    async recordEvents(items: readonly BulkEvent[]) {
      sent.batches.push(items.length);
      return bulk(items);
    },
    async recordEvent(_asset: string, _event: object, key: string) {
      sent.single.push(key);
      return `single ${key}`;
    },
  } as unknown as ArchivistClient;
  const { recordEvent } = bulkRecorder(client);
  const record = (key: string, size = 10) =>
    recordEvent('assets/a', { timestampDeclared: '', attributes: { x: 'x'.repeat(size) } }, key);
  return { sent, record };
}

const all: Bulk = async (items) => items.map(({ idempotencyKey }) => ({ identity: `bulk ${idempotencyKey}` }));
const keys = (count: number) => Array.from({ length: count }, (_, place) => String(place));

describe('events delivered in bulk', () => {
  it('go together, and each has its own answer', async () => {
    const { sent, record } = recorder(async (items) =>
      items.map(({ idempotencyKey: key }) =>
        key === '1' ? { failure: new EventRefused(400, 'no') } : { identity: `bulk ${key}` },
      ),
    );
    const outcomes = await Promise.allSettled(keys(3).map((key) => record(key)));
    expect(sent.batches).toEqual([3]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });

  it('are 500 and 4 MiB in a request at most', async () => {
    const { sent, record } = recorder(all);
    expect(await Promise.all(keys(1_201).map((key) => record(key)))).toEqual(keys(1_201).map((key) => `bulk ${key}`));
    expect(Math.max(...sent.batches)).toBe(500);
    expect(sent.batches.reduce((sum, each) => sum + each)).toBe(1_201);
    const large = recorder(all);
    await Promise.all(keys(5).map((key) => large.record(key, 2_000_000)));
    expect(Math.max(...large.sent.batches)).toBe(2);
  });

  it('go one by one to a service without the endpoint, and after a batch that was refused as a whole', async () => {
    const without = recorder(() => Promise.reject(new EventRefused(404, 'no such path')));
    await Promise.all(keys(3).map((key) => without.record(key)));
    await without.record('later');
    expect(without.sent).toEqual({ batches: [3], single: ['0', '1', '2', 'later'] });
    const refused = recorder(() => Promise.reject(new EventRefused(400, 'no')));
    await Promise.all(keys(2).map((key) => refused.record(key)));
    await refused.record('later');
    expect(refused.sent).toEqual({ batches: [2, 1], single: ['0', '1', 'later'] });
    // A proxy says so too: then the endpoint is tried again with the next batch.
    const proxy = recorder(() => Promise.reject(new DeliverLater('no such page', undefined, 404)));
    await Promise.all(keys(2).map((key) => proxy.record(key)));
    await proxy.record('later');
    expect(proxy.sent).toEqual({ batches: [2, 1], single: ['0', '1', 'later'] });
  });

  it('all wait when the service is away', async () => {
    const { sent, record } = recorder(() => Promise.reject(new DeliverLater('away', 7_000)));
    const outcomes = await Promise.allSettled(keys(2).map((key) => record(key)));
    for (const outcome of outcomes) expect(outcome).toMatchObject({ reason: { retryAfterMs: 7_000 } });
    expect(sent.single).toEqual([]);
  });
});
