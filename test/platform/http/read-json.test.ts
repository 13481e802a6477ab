import { describe, expect, it } from 'vitest';
import { utf8 } from '../../../src/core/bytes.js';
import { readJson } from '../../../src/platform/http/read-json.js';

const list = (count: number) => utf8(`[${Array.from({ length: count }, () => '1').join(',')}]`);

describe('a JSON body', () => {
  it('is refused before it is parsed if it has more values than are allowed', async () => {
    await expect(readJson(list(16_383))).resolves.toHaveLength(16_383);
    await expect(readJson(list(16_384))).rejects.toThrow('body: has more than 16384 values in all');
    await expect(readJson(utf8(`{"a":{},"b":[]`), 3)).rejects.toThrow('more than 3 values');
  });

  it('may have any number of commas and brackets within its strings', async () => {
    const text = ',[{'.repeat(50_000);
    await expect(readJson(utf8(JSON.stringify({ text, quoted: '",'.repeat(50_000) })))).resolves.toMatchObject({
      text,
    });
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
