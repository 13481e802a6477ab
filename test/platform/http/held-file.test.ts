import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { heldFileReply, holdFile } from '../../../src/platform/http/held-file.js';

const PLAIN = Buffer.from('a page');

it.each(['gzip', 'deflate, gzip', 'GZIP;q=0.001', 'br;q=0,gzip ; q=1', 'identity;q=0, gzip'])(
  'a held file is compressed for a client that accepts %s',
  async (encodings) => {
    const reply = heldFileReply(await holdFile(PLAIN, 'text/html'), { 'accept-encoding': encodings }, {});
    expect(reply.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' });
    expect(gunzipSync(reply.bytes!)).toEqual(PLAIN);
  },
);

it.each([undefined, '', 'identity', 'gzip;q=0', 'identity, gzip; q=0.000', 'GZIP;Q=0.0', 'not-gzip'])(
  'a held file is not compressed for a client that accepts %s',
  async (encodings) => {
    const reply = heldFileReply(await holdFile(PLAIN, 'text/html'), { 'accept-encoding': encodings }, {});
    expect(reply.headers).not.toHaveProperty('content-encoding');
    expect(reply.bytes).toEqual(PLAIN);
  },
);
