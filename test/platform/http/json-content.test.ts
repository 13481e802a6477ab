import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonContent } from '../../../src/platform/http/json-content.js';

async function jsonText(body: unknown): Promise<string> {
  const content = await jsonContent(body);
  return typeof content === 'string' ? content : Buffer.concat(content).toString();
}

describe('a response body as JSON', () => {
  it('is what JSON.stringify writes, with every form of list and with members left out', async () => {
    const value = fc.oneof(fc.jsonValue(), fc.constant(undefined), fc.date({ noInvalidDate: true }));
    const body = fc.oneof(
      fc.dictionary(fc.string(), fc.oneof(value, fc.array(value))),
      fc.array(value),
      fc.jsonValue(),
    );
    await fc.assert(
      fc.asyncProperty(body, async (each) => {
        expect(await jsonText(each)).toBe(JSON.stringify(each));
      }),
    );
  });

  it('of many bytes comes in pieces', async () => {
    const body = {
      events: Array.from({ length: 200 }, (_, number) => ({ number, text: 'ü'.repeat(5_000) })),
      next: '',
    };
    const content = await jsonContent(body);
    expect(content.length).toBeGreaterThan(10);
    expect(Buffer.concat(content as Uint8Array[]).toString()).toBe(JSON.stringify(body));
  });

  it('is written entry by entry, with other work in between', async () => {
    let turns = 0;
    const slow = { toJSON: () => busy(10) };
    const timer = setInterval(() => {
      turns += 1;
    }, 0);
    await jsonText({ events: Array.from({ length: 10 }, () => slow) });
    clearInterval(timer);
    expect(turns).toBeGreaterThanOrEqual(5);
  });
});

function busy(milliseconds: number): string {
  const until = performance.now() + milliseconds;
  while (performance.now() < until);
  return 'done';
}
