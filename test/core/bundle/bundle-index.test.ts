import { describe, expect, it } from 'vitest';
import { bundleIndex, encodeBundleIndex, readBundleIndex } from '../../../src/core/bundle/bundle-index.js';
import { utf8 } from '../../../src/core/bytes.js';

const OPERATIONS = [
  { number: 1, folder: '001-created', identity: 'assets/a/events/1' },
  { number: 2, folder: '002-redacted', identity: 'assets/a/events/2' },
];
const FILES = {
  '001-created/event.json': utf8('{}'),
  '002-redacted/event.json': utf8('[]'),
  'keys/key-manifest.cbor': utf8('keys'),
};
const INDEX = bundleIndex(FILES, OPERATIONS);

/** JSON can have an object of which `String` throws. */
const WITHOUT_TEXT = { toString: 1, valueOf: 1 };

type Json = Record<string, unknown>;
const member = (value: Json, name: string, place: number) => (value[name] as Json[])[place]!;

/** The index with one thing changed. */
function changed(change: (value: Json) => void): Uint8Array {
  const value = JSON.parse(new TextDecoder().decode(encodeBundleIndex(INDEX))) as Json;
  change(value);
  return utf8(JSON.stringify(value));
}

describe('the index of a bundle', () => {
  it('is read as it was made', () => {
    expect(readBundleIndex(encodeBundleIndex(INDEX))).toEqual(INDEX);
    expect(INDEX.files.map(({ path, kind, operation }) => [path, kind, operation])).toEqual([
      ['001-created/event.json', 'event', 1],
      ['002-redacted/event.json', 'event', 2],
      ['keys/key-manifest.cbor', 'keys-copy', undefined],
    ]);
  });

  it('is not made with a file that has no place, or is of no operation', () => {
    expect(() => bundleIndex({ 'notes.txt': utf8('') }, OPERATIONS)).toThrow('a bundle has no place for notes.txt');
    expect(() => bundleIndex({ '003-other/event.json': utf8('') }, OPERATIONS)).toThrow('is of no operation');
  });

  it.each<[string, (value: Json) => void]>([
    ['is of another format', (value) => (value['format'] = 'another')],
    ['lists operations as something else', (value) => (value['operations'] = { length: 2 })],
    ['lists a text among its files', (value) => (value['files'] as unknown[]).push('a')],
    ['lists null among its files', (value) => (value['files'] as unknown[]).push(null)],
    ['counts fewer operations than it lists', (value) => (value['operation_count'] = 1)],
    ['counts more operations than it lists', (value) => (value['operation_count'] = 3)],
    ['counts operations with a value that has no text', (value) => (value['operation_count'] = WITHOUT_TEXT)],
    ['numbers its operations in another order', (value) => (value['operations'] as Json[]).reverse()],
    ['has a folder in a folder', (value) => (member(value, 'operations', 0)['folder'] = 'a/b')],
    ['has two operations in one folder', (value) => (member(value, 'operations', 1)['folder'] = '001-created')],
    ['has one event twice', (value) => (member(value, 'operations', 1)['identity'] = OPERATIONS[0]!.identity)],
    ['has an operation without an identity', (value) => (member(value, 'operations', 0)['identity'] = '')],
    ['has a file without a path', (value) => delete member(value, 'files', 0)['path']],
    ['has one path twice', (value) => (member(value, 'files', 1)['path'] = '001-created/event.json')],
    ['has a file whose kind is a number', (value) => (member(value, 'files', 0)['kind'] = 7)],
    ['has a digest in capitals', (value) => (member(value, 'files', 0)['sha256'] = 'A'.repeat(64))],
    ['has a digest that is cut short', (value) => (member(value, 'files', 0)['sha256'] = 'a'.repeat(63))],
    ['has a file of an operation that is not listed', (value) => (member(value, 'files', 0)['operation'] = 3)],
    ['has a file of operation 0', (value) => (member(value, 'files', 0)['operation'] = 0)],
    ['has a file of half an operation', (value) => (member(value, 'files', 0)['operation'] = 1.5)],
    [
      'has more than 20,000 files',
      (value) => {
        const { sha256, kind } = member(value, 'files', 0);
        value['files'] = Array.from({ length: 20_001 }, (_, place) => ({ path: `file ${place}`, kind, sha256 }));
      },
    ],
  ])('is refused if it %s', (_, change) => {
    expect(() => readBundleIndex(changed(change))).toThrow(expect.objectContaining({ code: 'malformed' }));
  });

  it('of another version is not supported', () => {
    for (const version of [2, WITHOUT_TEXT, undefined]) {
      const other = changed((value) => (value['version'] = version));
      expect(() => readBundleIndex(other)).toThrow(expect.objectContaining({ code: 'unsupported' }));
    }
  });

  it('is refused if it is not an object', () => {
    for (const bytes of [utf8('null'), utf8('[]'), utf8('7')])
      expect(() => readBundleIndex(bytes)).toThrow(expect.objectContaining({ code: 'malformed' }));
  });
});
