import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { deflateSync, Inflate, unzipSync, Zip, ZipDeflate, type ZipOptions, ZipPassThrough, zipSync } from 'fflate';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { cutEvidencePage, evidenceZip } from '../../../src/core/bundle/evidence-page.js';
import { zipBundle } from '../../../src/core/bundle/zip-bundle.js';
import { concatBytes, toHex, utf8 } from '../../../src/core/bytes.js';
import { openBundle } from '../../../src/core/evidence/open-bundle.js';
import { sha256 } from '../../../src/core/sha256.js';
import { pythonPath } from '../../support/prerequisites.js';

const DAMAGED = /^the evidence bundle is damaged, or a zip that programs may read differently/;
const EVENT = utf8('{"identity":"assets/1/events/1"}');
const NOISE = new Uint8Array(randomBytes(40_000));
const FILES = { 'event.json': EVENT, 'notes/a.txt': utf8('noted') };

/** Compared in place of long files, whose bytes would be compared one by one. */
const digests = (files: Readonly<Record<string, Uint8Array>>) =>
  Object.entries(files).map(([name, bytes]) => [name, toHex(sha256(bytes))]);

const event = (options: ZipOptions = {}) => zipSync({ 'event.json': [EVENT, options] });

/** A zip as a writer makes it that cannot go back: sizes follow the data. */
function streamed(
  files: Readonly<Record<string, Uint8Array>>,
  Method: typeof ZipDeflate | typeof ZipPassThrough = ZipDeflate,
): Uint8Array {
  const parts: Uint8Array[] = [];
  const zip = new Zip((_, part) => parts.push(part));
  for (const [name, bytes] of Object.entries(files)) {
    const file = new Method(name);
    zip.add(file);
    file.push(bytes, true);
  }
  zip.end();
  return concatBytes(...parts);
}

/** Where things are in a zip. Of the first file's headers, one is before its data and one in the directory. */
interface Places {
  readonly local: number;
  readonly directory: number;
  readonly end: number;
  write(at: number, ...bytes: number[]): void;
  /** Writes into both headers. The place is that in the header before the data. */
  writeBoth(at: number, ...bytes: number[]): void;
}

const [FLAGS, METHOD, CRC, LENGTH, SIZE, NAME, EXTRA] = [6, 8, 14, 18, 22, 30, 40];

function changed(zip: Uint8Array, change: (places: Places) => void): Uint8Array {
  const bytes = zip.slice();
  const end = bytes.length - 22;
  const directory = directoryOf(zip);
  const write = (at: number, ...more: number[]) => bytes.set(more, at);
  const writeBoth = (at: number, ...more: number[]) => {
    write(at, ...more);
    write(directory + at + (at < NAME ? 2 : 16), ...more);
  };
  change({ local: 0, directory, end, write, writeBoth });
  return bytes;
}

function directoryOf(zip: Uint8Array): number {
  return new DataView(zip.buffer, zip.byteOffset).getUint32(zip.length - 6, true);
}

/** A zip below 64 KiB with bytes put into it, and a directory that knows about them. */
function withBytesAt(zip: Uint8Array, at: number, bytes: Uint8Array): Uint8Array {
  const moved = changed(zip, ({ directory, end, write }) => {
    const place = directory + bytes.length;
    write(end + 16, place & 0xff, place >> 8);
    if (at === 0) write(directory + 42, bytes.length);
  });
  return concatBytes(moved.subarray(0, at), bytes, moved.subarray(at));
}

/** A zip with bytes that belong to its directory and are no file. */
function withBytesBehindDirectory(zip: Uint8Array, bytes: Uint8Array): Uint8Array {
  const longer = changed(zip, ({ directory, end, write }) => write(end + 12, end - directory + bytes.length));
  return concatBytes(longer.subarray(0, -22), bytes, longer.subarray(-22));
}

/** A zip of one file with this stream. Its headers say the size and the checksum of another content. */
function ofStream(deflated: Uint8Array, content: Uint8Array = EVENT): Uint8Array {
  const crc = zipSync({ 'event.json': content }).subarray(CRC, CRC + 4);
  return changed(zipSync({ 'event.json': deflated }, { level: 0 }), ({ writeBoth }) => {
    writeBoth(METHOD, 8);
    writeBoth(CRC, ...crc);
    writeBoth(SIZE, content.length, 0, 0, 0);
  });
}

const PYTHON_WRITER = `
import sys, zipfile
class Pipe:
    def write(self, data): return sys.stdout.buffer.write(data)
    def flush(self): pass
with zipfile.ZipFile(Pipe(), 'w', int(sys.argv[1])) as made:
    made.writestr('notes/', '')
    made.writestr('event.json', '{"identity":"assets/1/events/1"}')
    made.writestr('notes/a.txt', 'noted')
`;

afterEach(() => {
  vi.restoreAllMocks();
});

describe('a zip opens', () => {
  it.each([0, 6] as const)('with files of any size, at compression level %i', (level) => {
    const files = { ...FILES, 'empty.txt': new Uint8Array(), noise: NOISE, 'zeros.log': new Uint8Array(3_000_000) };
    expect(digests(openBundle(zipSync(files, { level })))).toEqual(digests(files));
  });

  it('without its folders', () => {
    expect(
      openBundle(zipSync({ 'notes/': [new Uint8Array(), { os: 3, attrs: (0o40755 << 16) | 0x10 }], ...FILES })),
    ).toEqual(FILES);
  });

  it('with a name that it marks as UTF-8', () => {
    const files = { 'für.txt': EVENT };
    expect(openBundle(zipSync(files))).toEqual(files);
  });

  it('with the type of a file, another extra field and a comment on the file', () => {
    const extra = { 30837: new Uint8Array(11) };
    const zip = event({ os: 3, attrs: 0o100644 << 16, extra, comment: 'signed' });
    expect(openBundle(zip)).toEqual({ 'event.json': EVENT });
  });

  it('without any file', () => {
    expect(openBundle(zipSync({}))).toEqual({});
  });

  it('with sizes behind the data, with a signature or without', () => {
    const files = { ...FILES, noise: NOISE };
    expect(digests(openBundle(streamed(files)))).toEqual(digests(files));
    const zip = streamed({ 'event.json': EVENT });
    const signature = directoryOf(zip) - 16;
    const shorter = changed(zip, ({ end, write }) => write(end + 16, signature + 12));
    const unsigned = concatBytes(shorter.subarray(0, signature), shorter.subarray(signature + 4));
    expect(openBundle(unsigned)).toEqual({ 'event.json': EVENT });
  });

  it('with one of the sizes before the data and all behind it, as Info-ZIP writes into a pipe', () => {
    const zip = changed(streamed(FILES), ({ local, write }) => write(local + SIZE, EVENT.length));
    expect(openBundle(zip)).toEqual(FILES);
  });

  it.skipIf(!pythonPath).each([0, 8])('that Python wrote into a pipe, with method %i', (method) => {
    expect(openBundle(execFileSync(pythonPath!, ['-c', PYTHON_WRITER, String(method)]))).toEqual(FILES);
  });
});

describe('a zip that another tool could read otherwise is damaged:', () => {
  const [stored, packed, follows] = [zipSync(FILES, { level: 0 }), zipSync(FILES), streamed(FILES)];
  const [extra, stream] = [event({ extra: { 30837: new Uint8Array(9) } }), deflateSync(EVENT)];
  const typed = (name: string, mode: number) => zipSync({ [name]: [EVENT, { os: 3, attrs: mode << 16 }] });

  it('(unchanged, these open)', () => {
    expect(openBundle(streamed({ P: EVENT, 'a.zip': utf8('PK') }, ZipPassThrough))).toEqual({
      P: EVENT,
      'a.zip': utf8('PK'),
    });
    expect(openBundle(zipSync({ 'a.zip': stored }, { level: 0 }))).toEqual({ 'a.zip': stored });
    for (const zip of [stored, packed, follows]) expect(openBundle(zip)).toEqual(FILES);
    for (const zip of [extra, ofStream(stream), typed('event.json', 0o100000)])
      expect(openBundle(zip)).toEqual({ 'event.json': EVENT });
  });

  it.each<[string, Uint8Array, ((places: Places) => void)?]>([
    ['no byte', new Uint8Array()],
    ['a text', utf8('This is no zip, and it is longer than an end record.')],
    ['a lost byte', packed.subarray(0, -1)],
    ['bytes behind it', concatBytes(packed, Uint8Array.of(0))],
    ['no signature at the end', packed, ({ end, write }) => write(end, 0)],
    ['a comment', packed, ({ end, write }) => write(end + 20, 1)],
    ['a second disk', packed, ({ end, write }) => write(end + 4, 1)],
    ['a directory on a second disk', packed, ({ end, write }) => write(end + 6, 1)],
    ['a file on a second disk', packed, ({ directory, write }) => write(directory + 34, 1)],
    ['fewer files on this disk', packed, ({ end, write }) => write(end + 8, 1)],
    ['fewer files than the directory has', packed, ({ end, write }) => write(end + 8, 1, 0, 1)],
    ['a directory of another length', packed, ({ end, write }) => write(end + 12, 1)],
    ['no signature in the directory', packed, ({ directory, write }) => write(directory, 0)],
    ['no signature before the data', packed, ({ local, write }) => write(local, 0)],
    ['a second end, of zip64', event({ comment: `PK\u0006\u0007${'x'.repeat(16)}` })],
    ['sizes for zip64 in the directory', extra, ({ directory, write }) => write(directory + 56, 1, 0)],
    ['sizes for zip64 before the data', extra, ({ local, write }) => write(local + EXTRA, 1, 0)],
    ['a second name in the directory', extra, ({ directory, write }) => write(directory + 56, 0x75, 0x70)],
    ['a second name before the data', extra, ({ local, write }) => write(local + EXTRA, 0x75, 0x70)],
    ['an extra field that ends elsewhere', extra, ({ local, write }) => write(local + EXTRA + 2, 8)],
    ['another name before the data', packed, ({ local, write }) => write(local + NAME, 0x45)],
    ['another method before the data', packed, ({ local, write }) => write(local + METHOD, 0)],
    ['another checksum before the data', packed, ({ local, write }) => write(local + CRC, 1, 2, 3, 4)],
    ['no checksum before the data', packed, ({ local, write }) => write(local + CRC, 0, 0, 0, 0)],
    ['another length before the data', packed, ({ local, write }) => write(local + LENGTH, 1)],
    ['another size before the data', packed, ({ local, write }) => write(local + SIZE, 1)],
    ['another size in the directory', packed, ({ directory, write }) => write(directory + SIZE + 2, 1)],
    ['another size before the data than behind it', follows, ({ local, write }) => write(local + SIZE, 1)],
    ...[utf8('PK\u0007\u0008'), stored, stored.subarray(directoryOf(stored))].map((content): [string, Uint8Array] => [
      'a stored file that holds its own end, where only what is behind it says its size',
      streamed({ 'notes.txt': concatBytes(EVENT, content) }, ZipPassThrough),
    ]),
    ['another size behind the data', follows, ({ directory, write }) => write(directory - 4, 1)],
    ['no size behind the data', packed, ({ local, write }) => write(local + FLAGS, 8)],
    ['an encrypted file', packed, ({ writeBoth }) => writeBoth(FLAGS, 1)],
    ['a patch', packed, ({ writeBoth }) => writeBoth(FLAGS, 0x20)],
    ['an unknown method', stored, ({ writeBoth }) => writeBoth(METHOD, 12)],
    ['a stored file with two sizes', stored, ({ writeBoth }) => writeBoth(SIZE, 5)],
    ['a checksum that is not that of the content', stored, ({ writeBoth }) => writeBoth(CRC, 1)],
    ['a size below that of the content', packed, ({ writeBoth }) => writeBoth(SIZE, 5)],
    ['a size above that of the content', ofStream(stream, concatBytes(EVENT, Uint8Array.of(0)))],
    ['a name that ends early', packed, ({ writeBoth }) => writeBoth(NAME + 5, 0)],
    ['a name in UTF-8 that it does not mark', packed, ({ writeBoth }) => writeBoth(NAME, 0xc3, 0xbc)],
    [
      'a name that is marked as UTF-8 and is not',
      packed,
      ({ writeBoth }) => {
        writeBoth(FLAGS + 1, 8);
        writeBoth(NAME, 0xfc);
      },
    ],
    ['a symbolic link', typed('event.json', 0o120777)],
    ['a folder by its type', typed('event.json', 0o040755)],
    ['a folder by its name', typed('notes/', 0o100644)],
    ['a volume label', packed, ({ directory, write }) => write(directory + 38, 0x08)],
    ['a folder by its attribute', packed, ({ directory, write }) => write(directory + 38, 0x10)],
    ['bytes before it', concatBytes(utf8('#!/x'), packed)],
    ['bytes before the first file', withBytesAt(event(), 0, utf8('#!/x'))],
    ['bytes before the directory', withBytesAt(packed, directoryOf(packed), NOISE.subarray(0, 40))],
    ['bytes behind the directory', withBytesBehindDirectory(packed, NOISE.subarray(0, 40))],
    ['two files at one place', packed, ({ directory, write }) => write(directory + 56 + 42, 0)],
    ['bytes behind a stream', ofStream(concatBytes(stream, Uint8Array.of(0)))],
    ['a stream without its end', ofStream(stream.subarray(0, -1))],
    ['no stream', ofStream(new Uint8Array(), new Uint8Array())],
  ])('%s', (_, zip, change) => {
    expect(() => openBundle(change ? changed(zip, change) : zip)).toThrow(DAMAGED);
  });
});

describe('what a zip costs', () => {
  const pushed = () => vi.spyOn(Inflate.prototype, 'push');

  it('is one piece of a stream that holds more than its headers say, however much that is', () => {
    const bomb = ofStream(deflateSync(new Uint8Array(32 * 1024 * 1024)));
    const push = pushed();
    expect(() => openBundle(bomb)).toThrow(DAMAGED);
    expect(push.mock.calls.map(([piece]) => piece.length)).toEqual([4096]);
  });

  it('is nothing where one of its files is named elsewhere or too large', () => {
    const push = pushed();
    for (const name of [
      '../x',
      '/x',
      'a//x',
      'a/./x',
      'C:x',
      'event.json::$DATA',
      'event.json.',
      'event.json ',
      'a./x',
    ])
      expect(() => openBundle(zipSync({ ...FILES, [name]: EVENT }))).toThrow(/elsewhere/);
    const large = zipSync({ 'event.json': EVENT, large: new Uint8Array(16 * 1024 * 1024 + 1) });
    expect(() => openBundle(large)).toThrow(/too large/);
    expect(push).not.toHaveBeenCalled();
  });
});

describe('the page in a bundle', () => {
  it('holds the index and each operation first, and as many log files as fit, each with its seal', () => {
    const large = new Uint8Array(randomBytes(8 * 1024 * 1024));
    const log = 'log/tenant/112758ce-a8cb-4924-8df8-fcba1e31f8b0/0';
    const numbers = [0, 1].map((number) => String(number).padStart(16, '0'));
    const files = {
      ...Object.fromEntries(numbers.map((number, at) => [`${log}/massifs/${number}.log`, at === 0 ? NOISE : large])),
      ...Object.fromEntries(numbers.map((number) => [`${log}/massifseals/${number}.sth`, utf8(`seal ${number}`)])),
      'event.json': EVENT,
      'index.json': utf8('{}'),
    };
    const [head, tail] = [utf8('<!doctype html><script id="evidence" type="application/zip">'), utf8('</script>')];
    // One stored block (RFC 1951), which more follows.
    const deflatedHead = concatBytes(Uint8Array.of(0, head.length, 0, head.length ^ 0xff, 0xff), head);
    const { 'index.html': page, ...others } = unzipSync(zipBundle(files, { head, tail, deflatedHead }, 1));
    expect(Object.keys(others)).toEqual(Object.keys(files));
    expect(Object.keys(unzipSync(evidenceZip(cutEvidencePage(page!)!)))).toEqual([
      'index.json',
      'event.json',
      `${log}/massifs/${numbers[0]}.log`,
      `${log}/massifseals/${numbers[0]}.sth`,
    ]);
  });
});
