import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { officeDocument } from './office-document.js';
import { rawRequest } from './raw-request.js';
import { type Client, startTestService, type TestService } from './test-service.js';
import { uploadFile } from './upload-file.js';

const LIMIT = 3 * 1024 * 1024;
const BLOBS = '/archivist/v1/blobs';
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const text = (value: string) => new TextEncoder().encode(value);

let running: TestService;
let objects: string;
let owner: Client;
let someone: Client;
beforeAll(async () => {
  objects = await mkdtemp(join(tmpdir(), 'blobs-test-'));
  running = await startTestService({ BLOB_LIMIT: String(LIMIT), OBJECT_STORE_URL: `file://${objects}` });
  owner = running.owner;
  someone = await running.client({});
});
afterAll(async () => {
  await running?.close();
  await rm(objects, { recursive: true, force: true });
});

const upload = (client: Client, bytes: Uint8Array, type?: string) => uploadFile(running.url, client, bytes, type);
const pathOf = (answer: { json: Record<string, unknown> }) => `/archivist/v1/${answer.json['identity']}`;

const formHeaders = { 'content-type': 'multipart/form-data; boundary=b' };

function part(name: string, content: string): string {
  return `--b\r\ncontent-disposition: form-data; name="${name}"; filename="filename"\r\n\r\n${content}\r\n`;
}

describe('an Idempotency-Key of an upload', () => {
  const keyed = (key: string, content: string, client = owner) =>
    uploadFile(running.url, client, text(content), undefined, { 'idempotency-key': key });

  it('makes one blob of the same file sent again, also at the same time', async () => {
    const before = (await storedFiles()).length;
    const first = await keyed('one', 'the same');
    expect(first.status).toBe(200);
    expect((await keyed('one', 'the same')).json).toEqual(first.json);
    expect((await storedFiles()).length).toBe(before + 1);
    const racing = await Promise.all(['race', 'race', 'race', 'race'].map((key) => keyed(key, 'raced')));
    expect(racing.map((answer) => answer.status)).toEqual([200, 200, 200, 200]);
    expect(new Set(racing.map((answer) => answer.json['identity'])).size).toBe(1);
  });

  it('is refused with another file, and is each caller’s own', async () => {
    const first = await keyed('two', 'first');
    const other = await keyed('two', 'second');
    expect([other.status, other.json['description']]).toEqual([422, expect.stringMatching(/^Idempotency-Key: /)]);
    const theirs = await keyed('two', 'second', someone);
    expect(theirs.status).toBe(200);
    expect(theirs.json['identity']).not.toBe(first.json['identity']);
    expect((await keyed('not a key', 'x')).status).toBe(400);
  });
});

describe('an empty file', () => {
  const EMPTY = `${part('file', '')}--b--\r\n`;

  it('is stored if the request says so, with its length', async () => {
    const answer = await owner.post(`${BLOBS}?allow_empty=true`, EMPTY, formHeaders);
    expect([answer.status, answer.json['size']]).toEqual([200, 0]);
    expect(answer.json['hash']).toEqual({ alg: 'SHA256', value: sha256(new Uint8Array()) });
    expect((await owner.get(pathOf(answer))).bytes).toEqual(new Uint8Array());
    expect((await owner.get(pathOf(answer), { range: 'bytes=0-1' })).status).toBe(416);
  });

  it.each([
    ['that nobody announced', '', undefined],
    ['that the request denies', '?allow_empty=false', undefined],
    ['without a length', '?allow_empty=true', 'chunked'],
  ])('%s is refused with words that say what to send', async (_name, query, coding) => {
    const body = coding ? new Blob([EMPTY]).stream() : EMPTY;
    const response = await fetch(`${running.url}${BLOBS}${query}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${owner.token}`, ...formHeaders },
      body,
      ...(coding ? { duplex: 'half' } : {}),
    } as RequestInit);
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      error: 'bad_request',
      description: expect.stringMatching(/^file: is empty.*open the file again.*Content-Length.*allow_empty=true/),
    });
  });
});

describe('a compressed form', () => {
  it('is refused as every compressed body, not as a malformed one', async () => {
    const form = gzipSync(`${part('file', 'x')}--b--\r\n`);
    const response = await fetch(`${running.url}${BLOBS}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${owner.token}`, ...formHeaders, 'content-encoding': 'gzip' },
      body: form,
    });
    const { error, description } = (await response.json()) as Record<string, string>;
    expect([response.status, error]).toEqual([415, 'unsupported_media_type']);
    expect(description).toMatch(/^Content-Encoding: /);
  });
});

describe('an upload', () => {
  it('answers with the hash of what was sent, its size, its type and no scan yet', async () => {
    const bytes = new Uint8Array(randomBytes(200_000));
    const answer = await upload(someone, bytes, 'image/jpg');
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      identity: expect.stringMatching(/^blobs\/[0-9a-f-]{36}$/),
      hash: { alg: 'SHA256', value: sha256(bytes) },
      mime_type: 'image/jpg',
      size: 200_000,
      issuer: expect.stringMatching(/\/appidpv1$/),
      subject: someone.clientId,
      tenantid: expect.stringMatching(/^tenant\/[0-9a-f-]{36}$/),
      timestamp_accepted: expect.stringMatching(/^\d{4}-.*Z$/),
      scanned_status: 'NOT_SCANNED',
      scanned_bad_reason: '',
      scanned_reason: '',
      scanned_timestamp: '',
    });
    expect((await someone.get(`${pathOf(answer)}/info`)).json).toEqual(answer.json);
    expect(sha256((await someone.get(pathOf(answer))).bytes)).toBe(sha256(bytes));
  });

  it.each([
    [
      'a PNG',
      Buffer.from(
        'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
        'base64',
      ),
      'image/png',
    ],
    ['a PDF', Buffer.from('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n', 'latin1'), 'application/pdf'],
    [
      'a Word document',
      officeDocument('word', 'first'),
      'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    ],
    [
      'a Word document with its list of parts at the end',
      officeDocument('word', 'last'),
      'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    ],
    [
      'an Excel workbook',
      officeDocument('xl', 'first'),
      'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    ],
    ['a text', text('Guten Tag, Grüße'), 'text/plain'],
    ['bytes of no kind', new Uint8Array([1, 2, 3, 0, 0xff, 0xfe]), 'application/octet-stream'],
  ])('of %s without a declared type tells the type by its bytes', async (_name, bytes, type) => {
    const answer = await upload(owner, bytes);
    expect(answer.json['mime_type']).toBe(type);
    expect((await owner.get(pathOf(answer))).headers.get('content-type')).toBe(type);
  });

  it.each(['image/jpg', 'multipart/form-data', ''])(
    'is read from a form whose header names the type of the file, or no boundary: %j',
    async (type) => {
      const bytes = text(`a form under the header ${type}`);
      const answer = await uploadFile(running.url, owner, bytes, undefined, { 'content-type': type });
      expect([answer.status, answer.json['hash']]).toEqual([200, { alg: 'SHA256', value: sha256(bytes) }]);
    },
  );

  it('is read from a form as curl writes it under the type of the file', async () => {
    const disposition = 'Content-Disposition: attachment; name="file"; filename="a.jpg"';
    const body = `--------------------------b\r\n${disposition}\r\nContent-Type: image/jpeg\r\n\r\nsmile\r\n--------------------------b--\r\n`;
    const answer = await owner.post(BLOBS, body, { 'content-type': 'image/jpg' });
    expect([answer.status, answer.json['hash']]).toEqual([200, { alg: 'SHA256', value: sha256(text('smile')) }]);
  });

  it('may have as many bytes as the limit, and not one more, and leaves nothing when refused', async () => {
    const before = await storedFiles();
    expect((await upload(owner, new Uint8Array(LIMIT + 1))).status).toBe(402);
    expect((await upload(owner, new Uint8Array(LIMIT + 2 * 1024 * 1024))).json['error']).toBe('quota_reached');
    expect(await storedFiles()).toEqual(before);
    const whole = await upload(owner, new Uint8Array(LIMIT));
    expect([whole.status, whole.json['size']]).toEqual([200, LIMIT]);
    expect(await storedFiles()).toHaveLength(before.length + 1);
  });

  it.each([
    ['no form', { 'content-type': 'application/json' }, '{}', /content-type/],
    ['no boundary', { 'content-type': 'multipart/form-data' }, 'x', /content-type/],
    ['a file instead of a form', { 'content-type': 'image/png' }, `--${'x'.repeat(100)}`, /content-type/],
    ['nothing', { 'content-type': 'image/png' }, '', /content-type/],
    ['only the boundary', { 'content-type': 'image/png' }, '--b\r\n', /cut off/],
    ['an empty form', formHeaders, '--b--\r\n', /file/],
    ['another field', formHeaders, part('document', 'x') + '--b--\r\n', /^file/],
    [
      'a field that is no file',
      formHeaders,
      '--b\r\ncontent-disposition: form-data; name="file"\r\n\r\nx\r\n--b--\r\n',
      /^file/,
    ],
    ['an empty file', formHeaders, part('file', '') + '--b--\r\n', /^file: .*empty/],
    ['two files', formHeaders, part('file', 'x') + part('file', 'y') + '--b--\r\n', /^file: .*once/],
    ['a form that breaks off in the file', formHeaders, part('file', 'x').slice(0, -2), /cut off/],
    ['a form that breaks off after the file', formHeaders, part('file', 'x'), /cut off/],
    ['a header without end', formHeaders, `--b\r\n${'x'.repeat(100_000)}`, /cut off|malformed/],
  ])('with %s is a 400 that says why, and leaves nothing', async (_name, headers, body, named) => {
    const before = await storedFiles();
    const answer = await owner.post(BLOBS, body, headers as Record<string, string>);
    expect([answer.status, answer.json['description']]).toEqual([400, expect.stringMatching(named)]);
    expect(await storedFiles()).toEqual(before);
  });

  it('that is no form is read to its end, so that its connection serves the next request', async () => {
    const headers = `host: x\r\nauthorization: Bearer ${owner.token}\r\n`;
    const file = 'x'.repeat(2_000_000);
    const first = `POST ${BLOBS} HTTP/1.1\r\n${headers}content-type: image/png\r\ncontent-length: ${file.length}\r\n\r\n${file}`;
    const next = `GET /archivist/v2/assets HTTP/1.1\r\n${headers}connection: close\r\n\r\n`;
    const { status, body } = await rawRequest(running.url, Buffer.from(first + next), 5_000);
    expect([status, body]).toEqual([400, expect.stringContaining('HTTP/1.1 200 OK')]);
  });

  it('that is announced as far too large is refused before it is read', async () => {
    const tooLarge = LIMIT + 6 * 1024 * 1024;
    const head = `POST ${BLOBS} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${owner.token}\r\ncontent-type: multipart/form-data; boundary=b\r\ncontent-length: ${tooLarge}\r\n\r\n`;
    const answer = await rawRequest(running.url, Buffer.from(head), 5_000);
    expect([answer.status, answer.head, answer.body]).toEqual([
      402,
      expect.stringContaining('connection: close'),
      expect.stringContaining(`file: may have at most ${LIMIT} bytes`),
    ]);
  });

  it('may have little more than its file, also if its length is not announced', async () => {
    const before = await storedFiles();
    const form = part('other', 'x'.repeat(LIMIT + 1024 * 1024)) + part('file', 'x') + '--b--\r\n';
    const response = await fetch(`${running.url}${BLOBS}`, {
      method: 'POST',
      headers: { ...formHeaders, authorization: `Bearer ${owner.token}` },
      body: Readable.toWeb(Readable.from([text(form)])) as ReadableStream,
      duplex: 'half',
    });
    expect([response.status, await response.json()]).toEqual([
      402,
      { error: 'quota_reached', description: `file: may have at most ${LIMIT} bytes` },
    ]);
    expect(await storedFiles()).toEqual(before);
  });

  it('whose client leaves in the middle leaves nothing', async () => {
    const before = await storedFiles();
    const { port } = new URL(running.url);
    const socket = connect(Number(port), '127.0.0.1');
    const head = `POST ${BLOBS} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${owner.token}\r\ncontent-type: multipart/form-data; boundary=b\r\ncontent-length: 2000000\r\n\r\n`;
    socket.write(head + part('file', 'x'.repeat(500_000)).slice(0, -2));
    await expect.poll(unfinishedFiles).toHaveLength(1);
    socket.destroy();
    await expect.poll(unfinishedFiles).toEqual([]);
    expect(await storedFiles()).toEqual(before);
  });

  it('whose bytes were removed before it ended is refused, and is no blob', async () => {
    const rows = () =>
      running.service.parts.database.inTransaction('system', (tx) => tx.query('SELECT count(*) FROM archivist.blob'));
    const known = await rows();
    const content = new PassThrough();
    const answered = fetch(`${running.url}${BLOBS}`, {
      method: 'POST',
      headers: { ...formHeaders, authorization: `Bearer ${owner.token}` },
      body: Readable.toWeb(content) as ReadableStream,
      duplex: 'half',
    });
    content.write(part('file', 'x'.repeat(500_000)).slice(0, -2));
    await expect.poll(unfinishedFiles).toHaveLength(1);
    await running.asOwner('DELETE FROM archivist.blob_upload');
    content.end('\r\n--b--\r\n');
    const answer = await answered;
    expect([answer.status, answer.headers.get('retry-after'), await answer.json()]).toEqual([
      503,
      '1',
      { error: 'unavailable', description: 'The upload took too long, and its bytes were removed. Send it again.' },
    ]);
    expect(await rows()).toEqual(known);
  });

  it('needs a token', async () => {
    expect((await upload(running.anonymous, text('x'))).status).toBe(401);
  });
});

describe('a download', () => {
  const bytes = text('0123456789');
  let path: string;
  let etag: string;
  beforeAll(async () => {
    path = pathOf(await upload(someone, bytes, 'text/html'));
    etag = `"${sha256(bytes)}"`;
  });

  it('is saved and never shown: attachment, nosniff, its own type', async () => {
    const { headers } = await someone.get(path);
    expect(headers.get('content-type')).toBe('text/html');
    expect(headers.get('content-disposition')).toMatch(/^attachment; filename="[0-9a-f-]{36}"$/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('cache-control')).toMatch(/^private/);
    expect(headers.get('content-length')).toBe('10');
    expect(headers.get('access-control-allow-origin')).toBeNull();
  });

  it.each([
    ['bytes=2-4', '234', 'bytes 2-4/10'],
    ['bytes=8-', '89', 'bytes 8-9/10'],
    ['bytes=-3', '789', 'bytes 7-9/10'],
    ['bytes=5-99', '56789', 'bytes 5-9/10'],
  ])('of the range %s is that part', async (range, part, contentRange) => {
    const answer = await someone.get(path, { range });
    expect([answer.status, new TextDecoder().decode(answer.bytes)]).toEqual([206, part]);
    expect(answer.headers.get('content-range')).toBe(contentRange);
  });

  it('of a range behind the end is a 416 with the size, of no understandable range the whole', async () => {
    const beyond = await someone.get(path, { range: 'bytes=10-' });
    expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, 'bytes */10']);
    expect((await someone.get(path, { range: 'lines=1-2' })).bytes).toEqual(bytes);
  });

  it('takes no range with HEAD (RFC 9110 section 14.2)', async () => {
    for (const range of ['bytes=0-1', 'bytes=10-']) {
      const headers = { authorization: `Bearer ${someone.token}`, range };
      const answer = await fetch(`${running.url}${path}`, { method: 'HEAD', headers });
      expect([answer.status, answer.headers.get('content-length')]).toEqual([200, '10']);
    }
  });

  it('answers a known ETag with 304, and takes a range only of the file that If-Range names', async () => {
    expect((await someone.get(path, { 'if-none-match': etag })).status).toBe(304);
    expect((await someone.get(path, { range: 'bytes=0-1', 'if-range': etag })).status).toBe(206);
    expect((await someone.get(path, { range: 'bytes=0-1', 'if-range': '"other"' })).bytes).toEqual(bytes);
  });

  it('answers HEAD with the headers alone', async () => {
    const headers = { authorization: `Bearer ${someone.token}` };
    const answer = await fetch(`${running.url}${path}`, { method: 'HEAD', headers });
    expect([answer.status, answer.headers.get('content-length'), await answer.text()]).toEqual([200, '10', '']);
  });

  it('that is strict needs a scan', async () => {
    expect((await someone.get(`${path}?strict=true`)).status).toBe(400);
    expect((await someone.get(`${path}?strict=false`)).status).toBe(200);
    expect((await someone.get(`${path}?allow_insecure=true`)).status).toBe(200);
    const wrong = await someone.get(`${path}?strict=perhaps`);
    expect([wrong.status, wrong.json['description']]).toEqual([400, expect.stringMatching(/^strict/)]);
  });

  it('of what a scan found bad is refused, but to those who say that they know', async () => {
    const bad = await upload(someone, text('bad'));
    const id = String(bad.json['identity']).slice('blobs/'.length);
    await running.asOwner(
      `UPDATE archivist.blob SET scanned_status = 'SCANNED_BAD', scanned_bad_reason = 'Own.Test', scanned_at = now() WHERE blob_id = '${id}'`,
    );
    const refused = await someone.get(pathOf(bad));
    expect([refused.status, refused.json['description']]).toEqual([400, expect.stringContaining('Own.Test')]);
    expect((await someone.get(`${pathOf(bad)}?allow_insecure=true`)).status).toBe(200);
    expect((await someone.get(`${pathOf(bad)}?allow_insecure=true&strict=true`)).status).toBe(400);
    expect((await someone.get(`${pathOf(bad)}/info`)).json).toMatchObject({
      scanned_status: 'SCANNED_BAD',
      scanned_bad_reason: 'Own.Test',
      scanned_reason: 'Own.Test',
      scanned_timestamp: expect.stringMatching(/Z$/),
    });
  });

  it('is for the uploader and for Owners alone', async () => {
    const [other, stranger] = [
      await running.client({}),
      await running.client({ roles: ['OWNER'], otherTenancy: true }),
    ];
    expect((await owner.get(path)).status).toBe(200);
    for (const client of [other, stranger]) {
      expect((await client.get(path)).status).toBe(404);
      expect((await client.get(`${path}/info`)).status).toBe(404);
    }
    expect((await running.anonymous.get(path)).status).toBe(401);
  });

  it('of a blob whose bytes are lost is a fault of the service, never an empty file', async () => {
    const lost = pathOf(await upload(owner, text('lost')));
    await rm(join(objects, 'blobs', await fileOf(lost)));
    for (const headers of [{}, { range: 'bytes=0-1' }] as Record<string, string>[]) {
      const answer = await owner.get(lost, headers);
      expect([answer.status, answer.json['error']]).toEqual([500, 'internal']);
    }
  });

  it.each([
    ['lost a part', 'chang'],
    ['got more', 'changed and longer'],
  ])('of a blob whose bytes %s is broken off, never passed off as the whole', async (_what, now) => {
    const damaged = pathOf(await upload(owner, text('changed')));
    await writeFile(join(objects, 'blobs', await fileOf(damaged)), now);
    const download = fetch(`${running.url}${damaged}`, { headers: { authorization: `Bearer ${owner.token}` } });
    const whole = download.then(async (answer) => [answer.status, await answer.text()]);
    await expect(whole.catch(() => [500])).resolves.toEqual(expect.not.arrayContaining([200]));
  });

  it('of nothing is a 404, of no UUID a 400', async () => {
    expect((await owner.get(`${BLOBS}/00000000-0000-7000-8000-000000000000`)).status).toBe(404);
    expect((await owner.get(`${BLOBS}/1`)).status).toBe(400);
  });
});

async function fileOf(path: string): Promise<string> {
  const names = await readdir(join(objects, 'blobs'), { recursive: true });
  return names.find((name) => name.endsWith(path.split('/').at(-1)!))!;
}

async function files(): Promise<string[]> {
  const folder = join(objects, 'blobs');
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
}

async function storedFiles(): Promise<string[]> {
  return (await files()).filter((name) => !name.startsWith('.')).sort();
}

async function unfinishedFiles(): Promise<string[]> {
  return (await files()).filter((name) => name.startsWith('.'));
}
