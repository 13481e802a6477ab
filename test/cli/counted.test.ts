import { expect, it } from 'vitest';
import { counted } from '../../src/cli/counted.js';

it('a count has its noun in the singular for one alone', () => {
  const leaves = ['0', '1', '2', '11'].map((count) => counted(count, 'leaf', 'leaves'));
  expect(leaves).toEqual(['0 leaves', '1 leaf', '2 leaves', '11 leaves']);
  expect([0, 1, 2].map((count) => counted(count, 'log'))).toEqual(['0 logs', '1 log', '2 logs']);
});
