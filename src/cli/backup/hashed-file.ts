import { createHash, type Hash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { dirname } from 'node:path';
import { pipeline as connect, PassThrough, Readable, type Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { makeFolder, syncFile, syncFolder } from '../../platform/durable-file.js';

/** Size in bytes and SHA-256 in hex of a file. */
export interface HashedFile {
  readonly size: number;
  readonly sha256: string;
}

/** Passes bytes on and counts and hashes them. */
export function hashing(): {
  through(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array>;
  result(): HashedFile;
} {
  const hash: Hash = createHash('sha256');
  let size = 0;
  return {
    async *through(content) {
      for await (const chunk of content) {
        hash.update(chunk);
        size += chunk.length;
        yield chunk;
      }
    },
    result: () => ({ size, sha256: hash.digest('hex') }),
  };
}

/** Returns the hash of a file. */
export async function hashFile(path: string): Promise<HashedFile> {
  const hashed = hashing();
  for await (const _ of hashed.through(createReadStream(path)));
  return hashed.result();
}

/**
 * Writes bytes to a file that only its owner reads; on disk when this resolves. Rejects with what `content` throws.
 * @param coder changes the bytes before they are hashed and written
 */
export async function writeHashed(
  path: string,
  content: AsyncIterable<Uint8Array | string>,
  coder: Transform = new PassThrough(),
): Promise<HashedFile> {
  const hashed = hashing();
  await makeFolder(dirname(path));
  const file = createWriteStream(path, { mode: 0o600 });
  await pipeline(Readable.from(content, { objectMode: false }), coder, hashed.through, file);
  await syncFile(path);
  await syncFolder(dirname(path));
  return hashed.result();
}

/** Writes one JSON value a line, compressed with gzip. Rejects with what `values` throws. */
export function writeJsonLines(path: string, values: AsyncIterable<unknown>): Promise<HashedFile> {
  async function* lines(): AsyncGenerator<string> {
    for await (const value of values) yield `${JSON.stringify(value)}\n`;
  }
  return writeHashed(path, lines(), createGzip());
}

/** Yields the values of a file that `writeJsonLines` wrote. @throws if it cannot be read, or is cut */
export async function* readJsonLines(path: string): AsyncGenerator<unknown> {
  let rest = '';
  // Reading the last of the streams throws what failed in any of them.
  const text = connect(createReadStream(path), createGunzip(), () => undefined).setEncoding('utf8');
  for await (const chunk of text) {
    const lines = `${rest}${chunk as string}`.split('\n');
    rest = lines.pop()!;
    for (const line of lines) yield JSON.parse(line);
  }
}
