import { describe, expect, it } from 'vitest';
import { type CborMap, encodeCbor } from '../../src/core/cose/cbor.js';
import { bulkAnswer } from '../../src/scitt/bulk-answer.js';
import { turnsDuring } from '../support/turns-during.js';

const result = (number: number): CborMap =>
  new Map<string, number | string | Uint8Array>([
    ['status', 201],
    ['entry', `entry ${number}`],
    ['receipt', new Uint8Array(700).fill(number)],
  ]);
const results = (count: number) => Array.from({ length: count }, (_, number) => result(number));

describe('the answer to a bulk registration', () => {
  it.each([1, 23, 24, 255, 256, 1_000])(
    'is one array of %i results, byte for byte as if encoded at once',
    async (count) => {
      expect(Buffer.from(encodeCbor(results(count))).equals(await bulkAnswer(results(count), false))).toBe(true);
    },
  );

  it('is the results one after the other for a sequence', async () => {
    const answer = await bulkAnswer(results(30), true);
    expect(Buffer.concat(results(30).map((each) => encodeCbor(each))).equals(answer)).toBe(true);
  });

  it('lets other work go on between the results', async () => {
    expect(await turnsDuring(() => bulkAnswer(results(20_000), false))).toBeGreaterThan(1);
  });
});
