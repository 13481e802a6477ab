import { expect, it } from 'vitest';
import { createStatementNames, isNameRefused } from '../../../src/platform/postgres/statement-names.js';

it('names a text when it comes again and again, and always by the same name', () => {
  const names = createStatementNames();
  const given = Array.from({ length: 6 }, () => names.nameOf('SELECT 1'));
  expect(given.slice(0, 3)).toEqual([undefined, undefined, undefined]);
  expect(new Set(given.slice(3))).toEqual(new Set(['archivist_1']));
});

it('gives no text the name of another, and no more names than a connection should keep', () => {
  const names = createStatementNames();
  const texts = Array.from({ length: 1_000 }, (_, place) => `SELECT ${place}`);
  for (let times = 0; times < 4; times += 1) for (const text of texts) names.nameOf(text);
  const given = texts.map((text) => names.nameOf(text)).filter((name) => name !== undefined);
  expect(new Set(given).size).toBe(given.length);
  expect(given.length).toBe(400);
});

it('does not name texts that differ from search to search', () => {
  const names = createStatementNames();
  for (let place = 0; place < 10_000; place += 1) names.nameOf(`SELECT ${place}`);
  for (let times = 0; times < 3; times += 1) names.nameOf('SELECT hot');
  expect(names.nameOf('SELECT hot')).toBe('archivist_1');
});

it('knows the refusals of a name from other errors', () => {
  expect(isNameRefused({ code: '26000' })).toBe(true);
  expect(isNameRefused({ code: '42P05' })).toBe(true);
  expect(isNameRefused({ code: '0A000', routine: 'RevalidateCachedQuery' })).toBe(true);
  expect(isNameRefused({ code: '0A000' })).toBe(false);
  expect(isNameRefused(undefined)).toBe(false);
});
