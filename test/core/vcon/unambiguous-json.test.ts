import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readJsonText } from '../../../src/core/vcon/json-document.js';
import { parseUnambiguousJson } from '../../../src/core/vcon/unambiguous-json.js';

const NAMES = ['a', '"', ':', '{', '\\', 'é', '__proto__'];

/** JSON texts of objects and lists whose names may repeat. */
const { json } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4 },
    fc.oneof(fc.constantFrom(...NAMES), fc.integer(), fc.constant(null)).map((leaf) => JSON.stringify(leaf)),
    fc.array(tie('json'), { maxLength: 4 }).map((members) => `[${members.join()}]`),
    fc
      .array(fc.tuple(fc.constantFrom(...NAMES), tie('json')), { maxLength: 4 })
      .map((members) => `{ ${members.map(([name, value]) => `${JSON.stringify(name)} : ${value}`).join(', ')} }`),
  ),
}));

/** Every name, in the order of the objects; of either form of a value. */
function namesIn(value: unknown): unknown[] {
  if (Array.isArray(value)) return value.map(namesIn);
  const members: [string, unknown][] = value instanceof Map ? [...value] : isObject(value) ? Object.entries(value) : [];
  return members.map(([name, member]) => [name, namesIn(member)]);
}

/** Numbers of a lossless reading are objects, too. */
const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !('lexeme' in value);

describe('JSON that is evidence', () => {
  it('is refused exactly if an object has a name twice', () => {
    fc.assert(
      fc.property(json, (text) => {
        const repeats = readJsonText(text).duplicateName !== undefined;
        if (repeats) expect(() => parseUnambiguousJson(text)).toThrow('duplicate name');
        else expect(namesIn(parseUnambiguousJson(text))).toEqual(namesIn(readJsonText(text).value));
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ['with escapes', '{"a":1,"\\u0061":2}'],
    ['beside a list', '[{"a":[1,2],"a":3}]'],
  ])('is refused for a name that is written twice: %s', (_, text) => {
    expect(() => parseUnambiguousJson(text)).toThrow('duplicate name');
  });

  it('has every name as it is written, also after JSON by which V8 learns to take one for another', () => {
    JSON.parse(String.raw`{"h":[],"\\":0}`);
    for (const [escaped, name] of [
      [String.raw`\"`, '"'],
      [String.raw`\n`, '\n'],
      [String.raw`\u0041`, 'A'],
    ])
      expect(parseUnambiguousJson(`{"h":1,"${escaped}":[1.5,null,{"__proto__":"x"}]}`)).toEqual(
        Object.fromEntries([
          ['h', 1],
          [name, [1.5, null, Object.fromEntries([['__proto__', 'x']])]],
        ]),
      );
  });

  it('is refused if it is nested so deeply that a reader may fail', () => {
    const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
    expect(parseUnambiguousJson(nested(900))).toBeInstanceOf(Array);
    for (const levels of [901, 1_000_000]) expect(() => parseUnambiguousJson(nested(levels))).toThrow('too deeply');
  });
});
