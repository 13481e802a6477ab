import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { utf8 } from '../../../src/core/bytes.js';
import { OversizedEntry, readJson } from '../../../src/platform/http/read-json.js';

const list = (count: number) => utf8(`[${Array.from({ length: count }, () => '1').join(',')}]`);

describe('a JSON body', () => {
  it('is refused before it is parsed if it has more values than are allowed', async () => {
    await expect(readJson(list(9_999))).resolves.toHaveLength(9_999);
    await expect(readJson(list(10_000))).rejects.toThrow('body: has more than 10000 values in all');
    await expect(readJson(utf8(`{"a":{},"b":[]`), 3)).rejects.toThrow('more than 3 values');
  });

  it('has at most 64 levels', async () => {
    const nested = (levels: number) => utf8('['.repeat(levels) + ']'.repeat(levels));
    await expect(readJson(nested(64))).resolves.toBeInstanceOf(Array);
    await expect(readJson(nested(65))).rejects.toThrow('body: is nested deeper than 64 levels');
  });

  it('may have any number of commas and brackets within its strings', async () => {
    const text = ',[{'.repeat(50_000);
    await expect(readJson(utf8(JSON.stringify({ text, quoted: '",'.repeat(50_000) })))).resolves.toMatchObject({
      text,
    });
  });

  it('has every name as it is written, also after JSON by which V8 learns to take one for another', async () => {
    JSON.parse(String.raw`{"h":[],"\\":0}`);
    expect(Object.keys((await readJson(utf8(String.raw`{"h":1,"\"":2}`))) as object)).toEqual(['h', '"']);
    expect(await readJson(utf8(String.raw`{"events":[{"h":1,"\n":2},{"\u0041":3}]}`))).toEqual({
      events: [{ h: 1, '\n': 2 }, { A: 3 }],
    });
  });

  it('is refused if an object has a name twice, however it is written, and names it', async () => {
    const refusal = (text: string) => readJson(utf8(text)).catch(({ code, message }) => [code, message]);
    const named = (name: string) => ['bad_request', `body: has the member "${name}" twice in one object; send it once`];
    expect(await refusal('{"a":1,"b":2,"a":1}')).toEqual(named('a'));
    expect(await refusal('{"events":[{"x":"{\\":"},{"attributes":{"b":{},"\\u0062":[]}}]}')).toEqual(named('b'));
    expect(await refusal(`{"${'n'.repeat(200)}":1,"${'n'.repeat(200)}":1}`)).toEqual(named('n'.repeat(128)));
    expect(await refusal('{"":{"":1},"1":[{"1":":"},{"1":0}]}')).toEqual(
      JSON.parse('{"":{"":1},"1":[{"1":":"},{"1":0}]}'),
    );
    const unnamed = ['bad_request', 'body: has a member twice in one object; send it once'];
    const padding = ' '.repeat(140_000);
    expect(await refusal(`{"e":[{},{"a":1,"a":2}]}${padding}`)).toEqual(named('a'));
    expect(await refusal(`{"e":[1],"e":[2]}${padding}`)).toEqual(unnamed);
  });

  it('with every name once in each object is never taken for one with a name twice', async () => {
    const value = fc.jsonValue().filter((each) => !JSON.stringify(each).includes('__proto__'));
    await fc.assert(
      fc.asyncProperty(value, async (each) => {
        const text = JSON.stringify(each);
        expect(await readJson(utf8(text))).toEqual(JSON.parse(text));
      }),
      { numRuns: 1_000 },
    );
  });

  it('of a long list is parsed entry by entry, and means what JSON.parse says it means', async () => {
    const padding = ' '.repeat(140_000);
    const outcome = async (text: string) => readJson(utf8(text)).catch((error: Error) => error.message);
    const expected = (text: string) => {
      try {
        return JSON.parse(text);
      } catch {
        return 'body: is not JSON';
      }
    };
    const entry = fc.jsonValue({ maxDepth: 2 }).filter((value) => !JSON.stringify(value).includes('__proto__'));
    const slip = fc.constantFrom('', '', '', ',', '[', ']', '{', '}', '"', '\\', '\ufeff', ':', ' ');
    await fc.assert(
      fc.asyncProperty(
        fc.array(entry, { maxLength: 5 }),
        fc.constantFrom('{"e":*}', '[*]', '{"e":*,"f":1}', '{"e":[*]}', '{"e":{"f":*}}', '*', '{"e":*}]'),
        slip,
        fc.nat(),
        async (entries, form, added, at) => {
          const plain = form.replace('*', () => JSON.stringify(entries));
          const place = at % (plain.length + 1);
          const text = `${plain.slice(0, place)}${added}${plain.slice(place)}${padding}`;
          expect(await outcome(text)).toEqual(expected(text.replace(/^\ufeff/, '')));
        },
      ),
      { numRuns: 300 },
    );
    // What goes on after a limit would count in the test of how often it is parsed.
  }, 240_000);

  it('may have more values only as the entries of its one list, and none of those is parsed if it has too many', async () => {
    const large = `{${Array.from({ length: 10_001 }, (_, number) => `"k${number}":""`).join(',')}}`;
    const read = (text: string) => readJson(utf8(text), 100_000);
    await expect(read(`{"events":[{"a":"b"},${large},[]]}`)).resolves.toEqual({
      events: [{ a: 'b' }, new OversizedEntry(), []],
    });
    await expect(read(`{"events":[${large}]}`)).resolves.toEqual({ events: [new OversizedEntry()] });
    for (const text of [`{"events":[${large}],"b":1}`, `[${large}]`, large, `{"a":${large}}`])
      await expect(read(text)).rejects.toThrow('body: has more than 10000 values');
    await expect(read(`{"events":[ ]${' '.repeat(140_000)}}`)).resolves.toEqual({ events: [] });
  });

  it('may have as many values in the last entry of its list as in the others, and as in a body of its own', async () => {
    const object = (members: number) =>
      `{${Array.from({ length: members }, (_, number) => `"k${number}":""`).join(',')}}`;
    const entries = (...texts: string[]) => readJson(utf8(`{"events":[${texts.join(',')}]}`), 100_000);
    const [most, more] = [object(9_999), object(10_000)];
    await expect(readJson(utf8(most))).resolves.toEqual(JSON.parse(most));
    await expect(readJson(utf8(more))).rejects.toThrow('body: has more than 10000 values');
    await expect(entries(most, most)).resolves.toEqual({ events: [JSON.parse(most), JSON.parse(most)] });
    await expect(entries(more, more)).resolves.toEqual({ events: [new OversizedEntry(), new OversizedEntry()] });
  });

  it('of a long list lets others work between its entries', async () => {
    const parse = JSON.parse;
    let parses = 0;
    JSON.parse = (...args) => {
      parses += 1;
      return parse(...args);
    };
    try {
      await readJson(utf8(JSON.stringify({ events: Array.from({ length: 50 }, () => 'x'.repeat(10_000)) })));
    } finally {
      JSON.parse = parse;
    }
    expect(parses).toBe(51);
  });

  it('lets others work between its pieces', async () => {
    let turns = 0;
    const count = () => {
      turns += 1;
      timer = setImmediate(count);
    };
    let timer = setImmediate(count);
    await readJson(utf8(JSON.stringify({ text: 'x'.repeat(6 * 1024 * 1024) })));
    clearImmediate(timer);
    expect(turns).toBeGreaterThanOrEqual(5);
  });
});
