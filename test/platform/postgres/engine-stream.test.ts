import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { engineStream } from '../../../src/platform/postgres/engine-stream.js';

/** A stream to an engine that answers each call with the same bytes, with what the calls were and what was read. */
async function begun(answer: (call: number) => Uint8Array) {
  const calls: string[] = [];
  const read: Buffer[] = [];
  const stream = engineStream(async (queries) => {
    calls.push(Buffer.concat(queries).toString());
    return answer(calls.length);
  });
  stream.on('data', (piece: Buffer) => read.push(piece));
  stream.write('the start of a session');
  await expect.poll(() => Buffer.concat(read).toString('latin1')).toBe('R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I');
  read.length = 0;
  return { stream, calls, read };
}

describe('the stream to the embedded engine', () => {
  it('makes one call of what was written together, none of the start and the end of a client, and ends after the last answer', async () => {
    const { stream, calls, read } = await begun(() => new Uint8Array(1));
    stream.cork();
    for (const query of ['Q1', 'Q2', 'Q3']) stream.write(query);
    stream.uncork();
    stream.write('Q4');
    stream.end('X');
    await once(stream, 'close');
    expect(calls).toEqual(['Q1Q2Q3', 'Q4']);
    expect(Buffer.concat(read).length).toBe(2);
  });

  it('is read in the order of the calls, a long answer in pieces', async () => {
    const { stream, read } = await begun((call) => new Uint8Array(200_000).fill(call));
    for (const query of ['Q1', 'Q2', 'Q3']) stream.write(query);
    await expect.poll(() => Buffer.concat(read).length).toBe(600_000);
    const expected = Buffer.concat([1, 2, 3].map((call) => Buffer.alloc(200_000, call)));
    expect(Buffer.concat(read).equals(expected)).toBe(true);
    expect(Math.max(...read.map((piece) => piece.length))).toBeLessThanOrEqual(65_536);
  });

  it('fails with the engine', async () => {
    const stream = engineStream(async () => {
      throw new Error('the engine is away');
    });
    stream.resume().write('the start of a session');
    stream.write('Q1');
    await expect(once(stream, 'close')).rejects.toThrow('the engine is away');
  });
});
