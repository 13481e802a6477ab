import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { LogRef } from '../../src/ledger/log.js';
import { createRoundQueue } from '../../src/ledger/round-queue.js';

/** A queue of one place, the order of its rounds, and a clock that the test sets. */
function pacedQueue() {
  const begun: string[] = [];
  const time = { nowMs: 1_000 };
  const ends = new Map<string, () => void>();
  const round = ({ logId }: LogRef) =>
    new Promise<boolean>((resolve) => {
      begun.push(logId);
      ends.set(logId, () => resolve(false));
    });
  const queue = createRoundQueue(1, round, () => time.nowMs);
  /** Ends the round of this log at this time, and gives every promise its turn. */
  const end = async (logId: string, atMs: number): Promise<void> => {
    time.nowMs = atMs;
    ends.get(logId)!();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { queue, begun, time, end };
}

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
    const first = queue.run(log('a'), 'soon');
    const during = [queue.run(log('a'), 'soon'), queue.run(log('a'), 'soon'), queue.run(log('a'), 'soon')];
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
    await Promise.all(['a', 'b', 'c', 'd', 'e'].map((id) => queue.run(log(id), 'soon')));
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
    await Promise.all([queue.run(log('busy'), 'soon'), queue.run(log('quiet'), 'soon')]);
    expect(order).toEqual(['busy', 'quiet', 'busy', 'busy']);
  });

  it('hands a failure to whoever asked, and goes on', async () => {
    let fail = true;
    const queue = createQueue(1, async () => {
      if (fail) throw new Error('the store is away');
      return false;
    });
    await expect(queue.run(log('a'), 'soon')).rejects.toThrow('the store is away');
    fail = false;
    await expect(queue.run(log('a'), 'soon')).resolves.toBeUndefined();
  });

  it('waits for running rounds when it closes, and starts no other', async () => {
    let ended = 0;
    const queue = createQueue(1, async () => {
      await wait(10);
      ended += 1;
      return true;
    });
    const asked = [queue.run(log('a'), 'soon'), queue.run(log('b'), 'soon')];
    await queue.close();
    await Promise.all(asked);
    expect(ended).toBe(1);
    await expect(queue.run(log('a'), 'soon')).rejects.toThrow('stopped');
  });

  it('begins an urgent round before those that were asked for earlier', async () => {
    const { queue, begun, end } = pacedQueue();
    void queue.run(log('running'), 'paced');
    void queue.run(log('a'), 'paced');
    void queue.run(log('b'), 'soon');
    void queue.run(log('waited for'), 'urgent');
    await end('running', 1_010);
    await end('waited for', 1_020);
    expect(begun).toEqual(['running', 'waited for', 'b']);
    await end('b', 1_030);
    await end('a', 1_040);
    await queue.close();
  });

  it('makes a round urgent when a caller begins to wait for its log', async () => {
    const { queue, begun, end } = pacedQueue();
    void queue.run(log('running'), 'soon');
    void queue.run(log('a'), 'paced');
    void queue.run(log('b'), 'paced');
    void queue.run(log('b'), 'urgent');
    await end('running', 1_010);
    expect(begun).toEqual(['running', 'b']);
    await end('b', 1_020);
    await queue.close();
  });

  it('lets urgent rounds go first for a limited time only', async () => {
    const { queue, begun, end } = pacedQueue();
    void queue.run(log('waited for'), 'urgent');
    void queue.run(log('a'), 'paced');
    for (const atMs of [1_050, 1_090, 1_210, 1_220]) {
      void queue.run(log('waited for'), 'urgent');
      await end('waited for', atMs);
    }
    expect(begun).toEqual(['waited for', 'waited for', 'waited for', 'waited for', 'a']);
    await end('a', 1_230);
    await end('waited for', 1_240);
    await queue.close();
  });
});
