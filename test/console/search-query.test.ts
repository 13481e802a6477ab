import { expect, it } from 'vitest';
import { readQuery, sourcesOf } from '../../src/console/search-query.js';

const pathsOf = (q: string) => sourcesOf(readQuery(new URLSearchParams({ q })), 10).map(({ path }) => path);

it('labels are told apart by any number of spaces, and keep those within their values', () => {
  const labels = new URLSearchParams(pathsOf('case=a  b \t chain=main')[0]!.split('?')[1]);
  expect([labels.get('event_attributes.case'), labels.get('event_attributes.chain')]).toEqual(['a  b', 'main']);
});

it('a search for a hundred thousand spaces between two words is made at once', () => {
  const began = performance.now();
  expect(pathsOf(`a=1${' '.repeat(100_000)}b`)).not.toEqual([]);
  expect(performance.now() - began).toBeLessThan(1_000);
});
