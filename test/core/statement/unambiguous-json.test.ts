import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseUnambiguousJson } from '../../../src/core/statement/unambiguous-json.js';
import { readJsonText } from '../../../src/core/vcon/json-document.js';

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

describe('JSON that is evidence', () => {
  it('is refused exactly if an object has a name twice', () => {
    fc.assert(
      fc.property(json, (text) => {
        const repeats = readJsonText(text).duplicateName !== undefined;
        if (repeats) expect(() => parseUnambiguousJson(text)).toThrow('duplicate name');
        else expect(parseUnambiguousJson(text)).toEqual(JSON.parse(text));
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

  it('is refused if it is nested so deeply that a reader may fail', () => {
    const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
    expect(parseUnambiguousJson(nested(900))).toBeInstanceOf(Array);
    for (const levels of [901, 1_000_000]) expect(() => parseUnambiguousJson(nested(levels))).toThrow('too deeply');
  });
});
