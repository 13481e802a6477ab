import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { buffer } from 'node:stream/consumers';
import { CreateMultipartUploadCommand, S3Client, UploadPartCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { utf8 } from '../../src/core/bytes.js';
import { failureReason } from '../../src/platform/explain-failure.js';
import { refusalOf } from '../../src/platform/http/error-reply.js';
import { ObjectStoreFailed } from '../../src/platform/object-store-failed.js';
import { prepareObjectStore } from '../../src/platform/open-object-store.js';
import { s3ObjectStore } from '../../src/platform/s3/s3-object-store.js';
import type { S3Place } from '../../src/platform/s3/s3-place.js';
import { collectGarbage } from '../support/collect-garbage.js';
import { s3ServerPath } from '../support/prerequisites.js';
import { makeS3Server, type S3Server } from '../support/s3-server.js';

const ALL = new Date(8.64e15);

interface Heard {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A server that answers every request with 200, whatever its conditions are, and the place of a bucket in it. */
async function heedlessServer(): Promise<{ place: S3Place; heard: Heard[] }> {
  const heard: Heard[] = [];
  const server = createServer(async (request, response) => {
    const body = (await buffer(request)).toString('latin1');
    const { method = '', url: path = '', headers } = request;
    heard.push({ method, path, headers, body });
    const checksum = headers['x-amz-checksum-crc32'];
    response.writeHead(200, { etag: '"1"', ...(checksum ? { 'x-amz-checksum-crc32': checksum } : {}) });
    response.end(path.includes('?uploads') ? '<R><UploadId>7</UploadId></R>' : method === 'POST' ? '<R></R>' : '');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const place = {
    bucket: 'heedless',
    prefix: '',
    uploadsDir: tmpdir(),
    region: 'us-east-1',
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
  };
  return { place, heard };
}

/** A way to a server that loses its answer to the request which creates an object. @param again the refusal of a second one */
async function losesAnswers(place: S3Place, again: string | undefined): Promise<S3Place> {
  const { hostname, port } = new URL(place.endpoint!);
  let creations = 0;
  const way = createServer(async (asked, response) => {
    const { method = '', url: path = '', headers } = asked;
    const creates = method === 'PUT' ? !path.includes('partNumber') : path.includes('uploadId=') && method === 'POST';
    if (creates) creations += 1;
    const body = await buffer(asked);
    if (creates && creations > 1 && again !== undefined)
      return void response.writeHead(404).end(`<Error><Code>${again}</Code></Error>`);
    const passed = request({ hostname, port, method, path, headers }, async (answer) => {
      const bytes = await buffer(answer);
      if (creates && creations === 1) asked.socket.destroy();
      else response.writeHead(answer.statusCode!, answer.headers).end(bytes);
    });
    passed.end(body);
  });
  await once(way.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    way.close();
    way.closeAllConnections();
  });
  return { ...place, endpoint: `http://127.0.0.1:${(way.address() as AddressInfo).port}` };
}

it('refuses a server that replaces what is only to be created', async () => {
  const { place } = await heedlessServer();
  await expect(prepareObjectStore(place)).rejects.toThrow(/it ignores If-None-Match/);
});

it('names the checksum of the parts when an upload begins, and repeats each at its end, as AWS requires', async () => {
  const { place, heard } = await heedlessServer();
  await s3ObjectStore(place).putStream(
    'blobs/1',
    (async function* () {
      yield new Uint8Array(9 * 1024 * 1024);
    })(),
  );
  const [begin, first, second, end] = heard;
  expect(begin!.headers['x-amz-checksum-algorithm']).toBe('CRC32');
  const sums = [first, second].map((part) => String(part!.headers['x-amz-checksum-crc32']));
  expect(sums.every((sum) => /^[A-Za-z0-9+/]{6}==$/.test(sum))).toBe(true);
  expect([...end!.body.matchAll(/<ChecksumCRC32>(.*?)<\/ChecksumCRC32>/g)].map(([, sum]) => sum)).toEqual(sums);
  expect(end!.headers['if-none-match']).toBe('*');
});

describe.skipIf(!s3ServerPath)('objects in a bucket', () => {
  let server: S3Server;
  beforeAll(async () => {
    server = await makeS3Server();
  });
  afterAll(() => server.remove());

  /** What a process that was killed leaves of an upload. */
  async function unfinished({ bucket, prefix, region, endpoint, credentials }: S3Place, key: string): Promise<void> {
    const client = new S3Client({ region, endpoint: endpoint!, credentials: credentials!, forcePathStyle: true });
    const name = { Bucket: bucket, Key: `${prefix}${key}` };
    const { UploadId } = await client.send(new CreateMultipartUploadCommand(name));
    await client.send(new UploadPartCommand({ ...name, UploadId, PartNumber: 1, Body: new Uint8Array(1000) }));
    client.destroy();
  }

  it('are made ready any number of times, by a trial that nobody sees', async () => {
    const place = await server.place('ready');
    await Promise.all([prepareObjectStore(place), prepareObjectStore(place)]);
    await prepareObjectStore(place);
    expect(await s3ObjectStore(place).list('')).toEqual([]);
    // Among files of the server's own.
    expect(await readdir(server.folder('ready'))).toContain('.created-once');
  });

  it('are kept under the path that is named, and nothing else of the bucket is seen or removed', async () => {
    const [one, other] = [await server.place('paths', '/one'), await server.place('paths', '/other')];
    const [store, beside] = [s3ObjectStore(one), s3ObjectStore(other)];
    await store.put('a/1', utf8('one'));
    await beside.put('a/1', utf8('other'));
    await unfinished(other, 'a/2');
    expect(await store.list('')).toEqual(['a/1']);
    expect(await store.removeUnfinished(ALL)).toBe(0);
    await store.remove('a/1');
    expect(await beside.get('a/1')).toEqual(utf8('other'));
    expect(await beside.removeUnfinished(ALL)).toBe(1);
  });

  it('lose what a killed process left unfinished long ago, and with an object what was begun of it', async () => {
    const place = await server.place('killed');
    const store = s3ObjectStore(place);
    for (const key of ['blobs/1', 'blobs/10', 'blobs/2']) await unfinished(place, key);
    expect(await store.removeUnfinished(new Date('2026-01-01T00:00:00Z'))).toBe(0);
    await store.remove('blobs/1');
    expect(await store.removeUnfinished(ALL)).toBe(2);
    expect(await store.removeUnfinished(ALL)).toBe(0);
  });

  it.each([
    ['a bucket that does not exist', { bucket: 'no-such-bucket' }, /NoSuchBucket/],
    ['a wrong secret', { credentials: { accessKeyId: 'archivist', secretAccessKey: 'x' } }, /SignatureDoesNotMatch/],
    [
      'an unknown key',
      { credentials: { accessKeyId: 'nobody', secretAccessKey: 'x' } },
      /No user exists|InvalidAccessKeyId/,
    ],
    ['a server that is not there', { endpoint: 'http://127.0.0.1:9' }, /nothing listens there/],
  ])('say why they cannot be used: %s', async (_, wrong, reason) => {
    const place = { ...(await server.place('right')), ...wrong };
    const error = await prepareObjectStore(place).catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(ObjectStoreFailed);
    expect(failureReason(error)).toMatch(reason);
    expect(failureReason(error)).not.toContain('secret');
  });

  it('are not missing because their bucket is', async () => {
    const store = s3ObjectStore({ ...(await server.place('right')), bucket: 'no-such-bucket' });
    await expect(store.get('a/1')).rejects.toThrow(/NoSuchBucket/);
    await expect(store.open('a/1')).rejects.toThrow(/NoSuchBucket/);
  });

  it('cannot be read or written while the server is away, can be afterwards, and callers get 503', async () => {
    const store = s3ObjectStore(await server.place('away'));
    await store.put('a/1', utf8('one'));
    await server.stop();
    for (const call of [
      () => store.get('a/1'),
      () => store.has('a/1'),
      () => store.open('a/1'),
      () => store.putNew('a/2', utf8('two')),
      () => store.put('a/2', utf8('two')),
      () => store.list(''),
      () => store.remove('a/1'),
      () => store.removeUnfinished(ALL),
      () => store.ping(),
    ])
      expect(refusalOf(await call().catch((error: unknown) => error))?.status).toBe(503);
    await server.start();
    expect(await store.get('a/1')).toEqual(utf8('one'));
  });

  it.each([
    ['in one piece', 10, undefined],
    ['in parts', 9 * 1024 * 1024, undefined],
    ['in parts, on a server that has forgotten them', 9 * 1024 * 1024, 'NoSuchUpload'],
  ])('are created by an upload whose answer was lost, %s', async (_, size, again) => {
    const place = await server.place(`lost-${randomUUID()}`);
    const store = s3ObjectStore(await losesAnswers(place, again));
    const bytes = new Uint8Array(size).fill(7);
    const stream = async function* () {
      yield bytes;
    };
    expect(await store.putStream('blobs/1', stream())).toEqual({ size });
    expect(Buffer.compare((await s3ObjectStore(place).get('blobs/1'))!, bytes)).toBe(0);
  });

  it('are not created by an upload of other bytes of the same length', async () => {
    const store = s3ObjectStore(await server.place(`other-${randomUUID()}`));
    await store.put('blobs/1', utf8('one'));
    const other = async function* () {
      yield utf8('two');
    };
    await expect(store.putStream('blobs/1', other())).rejects.toThrow('already exists');
  });

  it('are uploaded by any number of slow clients without memory for each, and their files end with them', async () => {
    // A second attempt must not find the objects of the first.
    const place = await server.place(`uploads-${randomUUID()}`);
    const store = s3ObjectStore(place);
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let allWait = () => {};
    const allWaiting = new Promise<void>((resolve) => {
      allWait = resolve;
    });
    let waiting = 0;
    const chunk = new Uint8Array(1024 * 1024).fill(7);
    const slow = async function* () {
      for (let sent = 0; sent < 7; sent += 1) yield chunk;
      waiting += 1;
      if (waiting === 60) allWait();
      await released;
    };
    const held = () => {
      collectGarbage();
      return process.memoryUsage().arrayBuffers;
    };
    const before = held();
    let most = before;
    const uploads = Array.from({ length: 60 }, async (_, index) => {
      const stored = await store.putStream(`blobs/${index}`, slow());
      if (index % 6 === 0) most = Math.max(most, held());
      return stored;
    });
    // A failure ends the wait.
    await Promise.race([allWaiting, Promise.all(uploads)]);
    most = Math.max(most, held());
    expect(await readdir(place.uploadsDir)).not.toContainEqual(expect.stringMatching(/^[0-9a-f-]{36}$/));
    release();
    expect(await Promise.all(uploads)).toEqual(Array(60).fill({ size: 7 * chunk.length }));
    expect((await store.list('blobs/')).length).toBe(60);
    expect(most - before).toBeLessThan(150 * 1024 * 1024);
  });

  it('are written beside any number of readers that do not read', async () => {
    const store = s3ObjectStore(await server.place('slow'));
    await store.put('blobs/1', new Uint8Array(4 * 1024 * 1024).fill(7));
    const streams = await Promise.all(Array.from({ length: 150 }, () => store.open('blobs/1')));
    expect(await store.putNew('a/1', utf8('one'))).toBe('created');
    for (const stream of streams) stream!.destroy();
    expect(await store.get('a/1')).toEqual(utf8('one'));
  });
});
