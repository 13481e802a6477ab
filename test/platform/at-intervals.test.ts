import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { atIntervals } from '../../src/platform/at-intervals.js';

test('work at intervals is done again and again, and never twice at a time', async () => {
  let running = 0;
  let most = 0;
  let runs = 0;
  const work = atIntervals(5, async () => {
    running += 1;
    most = Math.max(most, running);
    await wait(20);
    running -= 1;
    runs += 1;
  });
  while (runs < 3) await wait(5);
  await work.close();
  expect(most).toBe(1);
});

test('closing waits for the run under way, and no other one begins', async () => {
  let begun = 0;
  let ended = 0;
  const work = atIntervals(5, async () => {
    begun += 1;
    await wait(30);
    ended += 1;
  });
  while (begun === 0) await wait(1);
  await work.close();
  expect([begun, ended]).toEqual([1, 1]);
  await wait(20);
  expect(begun).toBe(1);
});
