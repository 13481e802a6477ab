import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { mediaType } from '../../src/archivist/blobs/media-type.js';
import { refusalOf } from '../../src/platform/http/error-reply.js';

const PDF = Buffer.from('%PDF-1.7\n%\u00e2\u00e3\n');
const LOST = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });

/** Opens content whose reading fails so often. */
function failing(bytes: Buffer, times: number): () => Promise<Readable> {
  let opened = 0;
  return async () => {
    opened += 1;
    const broken = opened <= times;
    return Readable.from(
      (async function* () {
        yield bytes.subarray(0, 3);
        if (broken) throw LOST;
        yield bytes.subarray(3);
      })(),
    );
  };
}

it.each([
  ['application/octet-stream', PDF, 'application/pdf'],
  ['text/plain', Buffer.from('good day'), 'text/plain'],
])('the type of a file is not lost with a connection to the object store: %s', async (declared, bytes, type) => {
  expect(await mediaType(declared, failing(bytes, 0))).toBe(type);
  expect(await mediaType(declared, failing(bytes, 1))).toBe(type);
  const failure = await mediaType(declared, failing(bytes, 9)).catch((error: unknown) => error);
  expect(refusalOf(failure)).toMatchObject({ status: 503, code: 'unavailable' });
});

it('a long text has its type, although its reading ends early', async () => {
  const long = async () => Readable.from(Array.from({ length: 1_000 }, () => Buffer.alloc(1_000, 'a')));
  expect(await mediaType('text/plain', long)).toBe('text/plain');
});

it('content that is no file of a known type has none, however it ends', async () => {
  expect(await mediaType('application/octet-stream', failing(Buffer.from([0xff, 0xd8]), 0))).toBe(
    'application/octet-stream',
  );
});
