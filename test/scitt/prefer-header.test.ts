import { expect, it } from 'vitest';
import { preferredWaitMs } from '../../src/scitt/prefer-header.js';

it.each<[string | undefined, number]>([
  [undefined, 5_000],
  ['', 5_000],
  ['respond-async', 0],
  ['wait=0', 0],
  ['respond-async, wait=2', 2_000],
  ['Wait = 20', 20_000],
  ['wait=21', 20_000],
  ['wait=9999', 20_000],
  ['wait=10000', 20_000],
  [`wait=${'9'.repeat(400)}`, 20_000],
  ['wait=soon', 5_000],
])('a registration with the preferences %j waits %i ms for its receipt, twenty seconds at most', (prefer, ms) => {
  expect(preferredWaitMs(prefer)).toBe(ms);
});
