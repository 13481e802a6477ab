import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { LogRef } from '../../src/ledger/log.js';
import { createRoundQueue } from '../../src/ledger/round-queue.js';

const log = (logId: string): LogRef => ({ tenantId: 't', logId });

describe('the round queue', () => {
  it('never runs two rounds of one log at once, and runs one more for a call during a round', async () => {
    let [inside, most, rounds] = [0, 0, 0];
    const queue = createRoundQueue(4, async () => {
      rounds += 1;
      inside += 1;
      most = Math.max(most, inside);
      await wait(5);
      inside -= 1;
      return false;
    });
    const first = queue.run(log('a'));
    const during = [queue.run(log('a')), queue.run(log('a')), queue.run(log('a'))];
    await Promise.all([first, ...during]);
    expect([most, rounds]).toEqual([1, 2]);
  });

  it('runs different logs side by side, as many as it is told', async () => {
    let [inside, most] = [0, 0];
    const queue = createRoundQueue(2, async () => {
      inside += 1;
      most = Math.max(most, inside);
      await wait(5);
      inside -= 1;
      return false;
    });
    await Promise.all(['a', 'b', 'c', 'd', 'e'].map((id) => queue.run(log(id))));
    expect(most).toBe(2);
  });

  it('lets the other logs take their turn between the rounds of a busy one', async () => {
    const order: string[] = [];
    let left = 3;
    const queue = createRoundQueue(1, async ({ logId }) => {
      order.push(logId);
      await wait(1);
      if (logId !== 'busy') return false;
      left -= 1;
      return left > 0;
    });
    await Promise.all([queue.run(log('busy')), queue.run(log('quiet'))]);
    expect(order).toEqual(['busy', 'quiet', 'busy', 'busy']);
  });

  it('hands a failure to whoever asked, and goes on', async () => {
    let fail = true;
    const queue = createRoundQueue(1, async () => {
      if (fail) throw new Error('the store is away');
      return false;
    });
    await expect(queue.run(log('a'))).rejects.toThrow('the store is away');
    fail = false;
    await expect(queue.run(log('a'))).resolves.toBeUndefined();
  });

  it('waits for running rounds when it closes, and starts no other', async () => {
    let ended = 0;
    const queue = createRoundQueue(1, async () => {
      await wait(10);
      ended += 1;
      return true;
    });
    const asked = [queue.run(log('a')), queue.run(log('b'))];
    await queue.close();
    await Promise.all(asked);
    expect(ended).toBe(1);
    await expect(queue.run(log('a'))).rejects.toThrow('stopped');
  });
});
