import { expect, it } from 'vitest';
import { keepMade } from '../../src/platform/keep-made.js';

it('a value is made once for all who ask, and again only after an attempt that failed', async () => {
  let attempts = 0;
  const value = keepMade(async () => {
    attempts += 1;
    if (attempts === 1) throw new Error('too many open files');
    return attempts;
  });
  const first = await Promise.allSettled([value(), value()]);
  expect(first.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await Promise.all([value(), value()])).toEqual([2, 2]);
  expect(await value()).toBe(2);
});
