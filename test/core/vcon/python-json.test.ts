import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { utf8 } from '../../../src/core/bytes.js';
import { jcs } from '../../../src/core/vcon/jcs.js';
import { readJson } from '../../../src/core/vcon/json-document.js';
import { pythonFloat, pythonJson } from '../../../src/core/vcon/python-json.js';

const DOCUMENTS = 3000;
const SCRIPT = `
import json, sys
documents = json.load(sys.stdin)
json.dump([json.dumps(json.loads(text)) for text in documents], sys.stdout)
`;
const hasPython = spawnSync('python3', ['-c', 'import json']).status === 0;

const lexeme = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value.toExponential()),
  fc.float({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }).map(String),
  fc.tuple(fc.integer(), fc.nat(), fc.integer({ min: -330, max: 308 })).map(([a, b, e]) => `${a}.${b}E${e}`),
  fc.constantFrom('-0', '-0.0', '0e5', '1e400', '-1e400', '1e16', '1e15', '0.0001', '0.00001', '5e-324'),
);
const rawText = fc.oneof(
  fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
  fc.constantFrom('"\\/"', '"\\u00E9\\ud83d\\ude00"', '"\\ud800"', '"\u007f\u0080\u2028"', '"\\b\\f\\n\\r\\t\\"\\\\"'),
);
const space = fc.constantFrom('', '', ' ', '\n\t', '\r ');
const documentText = fc.letrec<{ value: string }>((tie) => ({
  value: fc
    .tuple(
      fc.oneof(
        { depthSize: 'small' },
        lexeme,
        rawText,
        fc.constantFrom('null', 'true', 'false', '{}', '[]'),
        fc.array(tie('value'), { maxLength: 5 }).map((members) => `[${members.join(',')}]`),
        fc
          .array(fc.tuple(fc.oneof(rawText, fc.constantFrom('"a"', '"9"', '"10"', '"__proto__"')), tie('value')), {
            maxLength: 5,
          })
          .map((members) => `{${members.map(([name, value]) => `${name}:${value}`).join(',')}}`),
      ),
      space,
    )
    .map(([text, blank]) => `${blank}${text}${blank}`),
})).value;

describe('the text of Python’s json.dumps', () => {
  it.skipIf(!hasPython)('is that of Python itself for random documents', () => {
    const documents = fc.sample(documentText, DOCUMENTS);
    const python = spawnSync('python3', ['-c', SCRIPT], { input: JSON.stringify(documents), maxBuffer: 2 ** 28 });
    expect(python.stderr.toString()).toBe('');
    const expected = JSON.parse(python.stdout.toString()) as string[];
    expect(documents.map((text) => pythonJson(readJson(utf8(text)).value))).toEqual(expected);
  });

  it('reads back to the document that it was written from', () => {
    fc.assert(
      fc.property(documentText, (text) => {
        fc.pre(!/e400|e3[0-9]{2}/i.test(text));
        const document = readJson(utf8(text));
        const written = pythonJson(document.value);
        expect(pythonJson(readJson(utf8(written)).value)).toBe(written);
      }),
    );
  });

  it('keeps what a double keeps', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(Number(pythonFloat(value))).toBe(value);
        expect(pythonFloat(value)).toMatch(/^-?(\d+\.\d+|\d(\.\d+)?e[+-]\d{2,3})$/);
      }),
    );
  });
});

describe('the JSON reader', () => {
  it('accepts what JSON.parse accepts and refuses what it refuses', () => {
    const damaged = fc.tuple(documentText, fc.nat(), fc.string({ maxLength: 2 })).map(([text, at, noise]) => {
      const place = at % (text.length + 1);
      return `${text.slice(0, place)}${noise}${text.slice(place)}`;
    });
    fc.assert(
      fc.property(fc.oneof(documentText, damaged), (text) => {
        fc.pre(!/\p{Surrogate}/u.test(text));
        const accepts = (parse: () => unknown) => {
          try {
            parse();
            return true;
          } catch {
            return false;
          }
        };
        expect(accepts(() => readJson(utf8(text)))).toBe(accepts(() => JSON.parse(text)));
      }),
      { numRuns: 2000 },
    );
  });

  it('refuses nesting that would exhaust the stack', () => {
    expect(() => readJson(utf8('['.repeat(1_000_000)))).toThrow(/nested deeper/);
  });
});

describe('JCS', () => {
  it('is equal for copies that differ in order, white space and escapes only', () => {
    const one = readJson(utf8('{"b":10.0,"a":"\\u00e9","c":[1e2,{}]}'));
    const other = readJson(utf8(' {"c" : [100, {} ], "a":"é", "b":10}'));
    expect(jcs(one).text).toBe('{"a":"é","b":10,"c":[100,{}]}');
    expect(jcs(other)).toEqual(jcs(one));
  });

  it('says when an integer was rounded', () => {
    expect(jcs(readJson(utf8('[9007199254740991,-9007199254740991]'))).lossy).toBe(false);
    expect(jcs(readJson(utf8('[9007199254740993]')))).toEqual({ text: '[9007199254740992]', lossy: true });
  });
});
