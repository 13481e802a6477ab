import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { LogRef } from '../../src/ledger/log.js';
import { createRoundQueue } from '../../src/ledger/round-queue.js';

/** A queue, the order of its rounds, and a clock that the test sets: no timer fires by itself, however slow the machine is. */
function pacedQueue(parallel = 1) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const begun: string[] = [];
  const time = { nowMs: 1_000 };
  const ends = new Map<string, () => void>();
  const round = ({ logId }: LogRef) =>
    new Promise<boolean>((resolve) => {
      begun.push(logId);
      ends.set(logId, () => resolve(false));
    });
  const queue = createRoundQueue(parallel, round, () => time.nowMs);
  /** Ends the round of this log at this time, and gives every promise its turn. */
  const end = async (logId: string, atMs: number): Promise<void> => {
    time.nowMs = atMs;
    ends.get(logId)!();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { queue, begun, time, end };
}

type Paced = ReturnType<typeof pacedQueue>;

const createQueue = (parallel: number, round: (log: LogRef) => Promise<boolean>) =>
  createRoundQueue(parallel, round, () => performance.now());
const log = (logId: string): LogRef => ({ tenantId: 't', logId });

describe('the round queue', () => {
  it('never runs two rounds of one log at once, and runs one more for a call during a round', async () => {
    let [inside, most, rounds] = [0, 0, 0];
    const queue = createQueue(4, async () => {
      rounds += 1;
      inside += 1;
      most = Math.max(most, inside);
      await wait(5);
      inside -= 1;
      return false;
    });
    const first = queue.run(log('a'), 'soon', 1);
    const during = [queue.run(log('a'), 'soon', 1), queue.run(log('a'), 'soon', 1), queue.run(log('a'), 'soon', 1)];
    await Promise.all([first, ...during]);
    expect([most, rounds]).toEqual([1, 2]);
  });

  it('runs different logs side by side, as many as it is told', async () => {
    let [inside, most] = [0, 0];
    const queue = createQueue(2, async () => {
      inside += 1;
      most = Math.max(most, inside);
      await wait(5);
      inside -= 1;
      return false;
    });
    await Promise.all(['a', 'b', 'c', 'd', 'e'].map((id) => queue.run(log(id), 'soon', 1)));
    expect(most).toBe(2);
  });

  it('lets the other logs take their turn between the rounds of a busy one', async () => {
    const order: string[] = [];
    let left = 3;
    const queue = createQueue(1, async ({ logId }) => {
      order.push(logId);
      await wait(1);
      if (logId !== 'busy') return false;
      left -= 1;
      return left > 0;
    });
    await Promise.all([queue.run(log('busy'), 'soon', 1), queue.run(log('quiet'), 'soon', 1)]);
    expect(order).toEqual(['busy', 'quiet', 'busy', 'busy']);
  });

  it('hands a failure to whoever asked, and goes on', async () => {
    let fail = true;
    const queue = createQueue(1, async () => {
      if (fail) throw new Error('the store is away');
      return false;
    });
    await expect(queue.run(log('a'), 'soon', 1)).rejects.toThrow('the store is away');
    fail = false;
    await expect(queue.run(log('a'), 'soon', 1)).resolves.toBeUndefined();
  });

  it('tells of the end of one round that began after the call, while work is left and when it fails', async () => {
    let rounds = 0;
    const queue = createQueue(1, async () => {
      rounds += 1;
      await wait(1);
      if (rounds === 6) throw new Error('broken');
      return rounds < 4;
    });
    const endOfOne = () =>
      new Promise<number>((tell) => void queue.run(log('a'), 'soon', 0, () => tell(rounds)).catch(() => undefined));
    const first = queue.run(log('a'), 'soon', 1);
    expect(await endOfOne()).toBe(2);
    await first;
    expect(rounds).toBe(4);
    expect([await endOfOne(), await endOfOne()]).toEqual([5, 6]);
  });

  it('waits for running rounds when it closes, and starts no other', async () => {
    let ended = 0;
    const queue = createQueue(1, async () => {
      await wait(10);
      ended += 1;
      return true;
    });
    const asked = [queue.run(log('a'), 'soon', 1), queue.run(log('b'), 'soon', 1)];
    await queue.close();
    await Promise.all(asked);
    expect(ended).toBe(1);
    await expect(queue.run(log('a'), 'soon', 1)).rejects.toThrow('stopped');
  });

  it('begins an urgent round before those that were asked for earlier, and leaves 25 milliseconds to the next one', async () => {
    const { queue, begun, time, end } = pacedQueue();
    void queue.run(log('running'), 'paced', 1);
    void queue.run(log('a'), 'paced', 1);
    void queue.run(log('b'), 'soon', 1);
    void queue.run(log('waited for'), 'urgent', 1);
    await end('running', 1_010);
    await end('waited for', 1_020);
    expect(begun).toEqual(['running', 'waited for', 'b']);
    await end('b', 1_044);
    expect(begun).toEqual(['running', 'waited for', 'b']);
    time.nowMs = 1_045;
    void queue.run(log('a'), 'paced', 0);
    expect(begun).toEqual(['running', 'waited for', 'b', 'a']);
    await end('a', 1_050);
    await queue.close();
  });

  it('makes a round urgent when a caller begins to wait for its log', async () => {
    const { queue, begun, end } = pacedQueue();
    void queue.run(log('running'), 'soon', 1);
    void queue.run(log('a'), 'paced', 1);
    void queue.run(log('b'), 'paced', 1);
    void queue.run(log('b'), 'urgent', 1);
    await end('running', 1_010);
    expect(begun).toEqual(['running', 'b']);
    await end('b', 1_020);
    await queue.close();
  });

  it('lets urgent rounds go before a paced one for 300 ms, and for 400 ms where one runs at a time', async () => {
    const { queue, begun, end } = pacedQueue();
    void queue.run(log('waited for'), 'urgent', 1);
    void queue.run(log('a'), 'paced', 1);
    for (const atMs of [1_200, 1_399, 1_401, 1_410]) {
      void queue.run(log('waited for'), 'urgent', 1);
      await end('waited for', atMs);
    }
    expect(begun).toEqual(['waited for', 'waited for', 'waited for', 'waited for', 'a']);
    await end('a', 1_420);
    await end('waited for', 1_430);
    await queue.close();

    const two = pacedQueue(2);
    void two.queue.run(log('waited for'), 'urgent', 1);
    void two.queue.run(log('a'), 'paced', 1);
    const askAt = (nowMs: number): void => {
      two.time.nowMs = nowMs;
      void two.queue.run(log('a'), 'paced', 1);
    };
    askAt(1_299);
    expect(two.begun).toEqual(['waited for']);
    askAt(1_300);
    expect(two.begun).toEqual(['waited for', 'a']);
    await two.end('waited for', 1_310);
    await two.end('a', 1_310);
    await two.queue.close();
  });

  /** Asks at these times, and returns those at which a round of the log began. */
  function begunAt(asks: readonly { atMs: number; entries: number }[], { queue, begun, time }: Paced): number[] {
    return asks.flatMap(({ atMs, entries }) => {
      time.nowMs = atMs;
      const before = begun.length;
      void queue.run(log('a'), 'paced', entries);
      return begun.length > before ? [atMs] : [];
    });
  }
  const ones = (...times: number[]) => times.map((atMs) => ({ atMs, entries: 1 }));

  it('begins a paced round at once in a quiet log: if the last one took one entry and nobody asked while it ran', async () => {
    const paced = pacedQueue();
    expect(begunAt(ones(1_000), paced)).toEqual([1_000]);
    await paced.end('a', 1_020);
    expect(begunAt(ones(1_021), paced)).toEqual([1_021]);
    void paced.queue.run(log('a'), 'paced', 1);
    await paced.end('a', 1_040);
    expect(begunAt(ones(1_041), paced)).toEqual([]);
    await paced.queue.close();
  });

  it.each([
    { tookMs: 20, begins: 1_100 },
    { tookMs: 100, begins: 1_400 },
  ])('lets entries gather after a round of several: four times its $tookMs ms, at most 300 ms', async (each) => {
    const paced = pacedQueue();
    begunAt([{ atMs: 1_000, entries: 2 }], paced);
    const ended = 1_000 + each.tookMs;
    await paced.end('a', ended);
    expect(begunAt(ones(ended, each.begins - 1, each.begins), paced)).toEqual([each.begins]);
    await paced.end('a', each.begins + 1);
    await paced.queue.close();
  });

  it.each([
    { title: 'a caller that begins to wait', haste: 'urgent' as const, entries: 0 },
    { title: 'a whole batch', haste: 'paced' as const, entries: 999 },
  ])('ends the pause for $title', async ({ haste, entries }) => {
    const paced = pacedQueue();
    begunAt([{ atMs: 1_000, entries: 2 }], paced);
    await paced.end('a', 1_020);
    expect(begunAt(ones(1_021), paced)).toEqual([]);
    void paced.queue.run(log('a'), haste, entries);
    expect(paced.begun).toEqual(['a', 'a']);
    await paced.end('a', 1_030);
    await paced.queue.close();
  });

  it.each([
    { title: 'a lone entry', asks: [{ atMs: 1_000, entries: 1 }], begins: 'after the first' },
    { title: 'several entries', asks: [{ atMs: 1_000, entries: 2 }], begins: 'at once' },
    { title: 'an entry that came later', asks: [{ atMs: 1_002, entries: 1 }], begins: 'at once' },
    {
      title: 'an entry that has waited',
      asks: [
        { atMs: 1_000, entries: 1 },
        { atMs: 1_025, entries: 0 },
      ],
      begins: 'at once',
    },
  ])('works on two logs that were asked for together one after the other: $title begins $begins', async (each) => {
    const { queue, begun, time, end } = pacedQueue(4);
    void queue.run(log('first'), 'paced', 1);
    for (const { atMs, entries } of each.asks) {
      time.nowMs = atMs;
      void queue.run(log('second'), 'paced', entries);
    }
    expect(begun).toEqual(each.begins === 'at once' ? ['first', 'second'] : ['first']);
    await end('first', time.nowMs + 10);
    time.nowMs += 10;
    void queue.run(log('second'), 'paced', 0);
    expect(begun).toEqual(['first', 'second']);
    await end('second', time.nowMs + 10);
    await queue.close();
  });

  it.each([
    { endsMs: 1_010, beginsMs: 1_020 },
    { endsMs: 1_020, beginsMs: 1_025 },
    { endsMs: 1_024, beginsMs: 1_025 },
  ])(
    'begins the second of them ten milliseconds after the first, which ended at $endsMs, and at 1025 at the latest',
    async (each) => {
      const { queue, begun, time, end } = pacedQueue(4);
      void queue.run(log('first'), 'paced', 1);
      void queue.run(log('second'), 'paced', 1);
      await end('first', each.endsMs);
      const askAt = (nowMs: number): void => {
        time.nowMs = nowMs;
        void queue.run(log('second'), 'paced', 0);
      };
      askAt(each.beginsMs - 1);
      expect(begun).toEqual(['first']);
      askAt(each.beginsMs);
      expect(begun).toEqual(['first', 'second']);
      await end('second', each.beginsMs + 10);
      await queue.close();
    },
  );

  it('spends a fifth of the time on the rounds of a log that somebody asks for all the time', async () => {
    const paced = pacedQueue();
    let [rounds, endsMs] = [0, Number.POSITIVE_INFINITY];
    for (let atMs = 1_000; atMs < 2_000; atMs += 1) {
      if (atMs >= endsMs) await paced.end('a', atMs);
      if (begunAt(ones(atMs), paced).length === 0) continue;
      rounds += 1;
      endsMs = atMs + 10;
    }
    expect(rounds).toBe(20);
    await paced.end('a', 2_000);
    await paced.queue.close();
  });
});

describe('a round with statements that are coming', () => {
  const coming = { statements: [], committed: Promise.resolve(true) };

  it('begins at once, unless its log has a round or there is no room for one more', async () => {
    const { queue, begun, time, end } = pacedQueue(2);
    const first = queue.begin(log('a'), coming);
    expect(begun).toEqual(['a']);
    expect(queue.begin(log('a'), coming)).toBeUndefined();
    void queue.run(log('b'), 'soon', 1);
    void queue.run(log('c'), 'soon', 1);
    expect([queue.begin(log('c'), coming), queue.begin(log('d'), coming)]).toEqual([undefined, undefined]);
    await end('a', time.nowMs);
    await first;
    expect(begun).toEqual(['a', 'b', 'c']);
    await end('b', time.nowMs);
    await end('c', time.nowMs);
    await queue.close();
    expect(queue.begin(log('a'), coming)).toBeUndefined();
  });

  it('does not go before a round that was requested and pauses: it would leave out what waits', async () => {
    const { queue, begun, time, end } = pacedQueue(2);
    void queue.run(log('a'), 'paced', 5);
    await end('a', 1_010);
    void queue.run(log('a'), 'paced', 1);
    expect(queue.begin(log('a'), coming)).toBeUndefined();
    time.nowMs = 1_050;
    void queue.run(log('a'), 'paced', 0);
    expect(begun).toEqual(['a', 'a']);
    await end('a', 1_060);
    await queue.close();
  });

  it('is the one that a caller waits for, and no other begins for that', async () => {
    const { queue, begun, time, end } = pacedQueue();
    void queue.begin(log('a'), coming);
    const waited = queue.run(log('a'), 'urgent', 0);
    await end('a', time.nowMs);
    await waited;
    expect(begun).toEqual(['a']);
    void queue.begin(log('a'), coming);
    void queue.run(log('a'), 'urgent', 1);
    await end('a', time.nowMs);
    expect(begun).toEqual(['a', 'a', 'a']);
    await end('a', time.nowMs);
    await queue.close();
  });
});
