import { expect, test } from 'vitest';
import { firstLines } from '../../src/cli/first-lines.js';

test('a long list ends with how many more there are; a list that fits is whole', () => {
  expect(firstLines(['a', 'b', 'c'], 2)).toEqual(['a', 'b', '… and 1 more']);
  expect(firstLines(['a', 'b'], 2)).toEqual(['a', 'b']);
  expect(firstLines([], 2)).toEqual([]);
});
