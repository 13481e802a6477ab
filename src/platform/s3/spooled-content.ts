import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';

/** Content in a file without a name, which ends with this process. */
export interface SpooledContent {
  readonly size: number;
  /** Bytes from a place on, fewer at the end. */
  piece(first: number, length: number): Promise<Uint8Array>;
  close(): Promise<void>;
}

/**
 * Writes a stream to a file in this folder, however slowly it comes; nothing of it stays in memory.
 * @throws what the stream throws, and the errors of the file system
 */
export async function spool(folder: string, content: AsyncIterable<Uint8Array>): Promise<SpooledContent> {
  const path = join(folder, randomUUID());
  const file = await open(path, 'wx+', 0o600);
  try {
    await unlink(path);
    let size = 0;
    for await (const chunk of content) {
      await file.writeFile(chunk);
      size += chunk.length;
    }
    return {
      size,
      piece: (first, length) => readPiece(file, first, Math.min(length, size - first)),
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function readPiece(file: FileHandle, first: number, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  for (let filled = 0; filled < length; ) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, first + filled);
    if (bytesRead === 0) throw new Error('a file of an upload was cut off');
    filled += bytesRead;
  }
  return bytes;
}
