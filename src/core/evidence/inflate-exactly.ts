// Of fflate only the inflater. Its reader of zips believes the directory: it drops what is beyond the size that the
// directory says, after inflating all of it, and never compares the directory with what stands before each file.
import { Inflate } from 'fflate';

/** Deflate packs at most 1,032 bytes into one: no piece of input becomes more than about 4 MiB. */
const PIECE_BYTES = 4096;

/**
 * Returns what a deflate stream (RFC 1951) holds. It reads no further when more comes out than is expected.
 * @throws {Error} when that has another size, or the stream does not end with its last byte
 */
export function inflateExactly(deflated: Uint8Array, size: number): Uint8Array {
  const inflated = new Uint8Array(size);
  let length = 0;
  const stream = new Inflate((part) => {
    // Throws when the part does not fit.
    inflated.set(part, length);
    length += part.length;
  });
  const last = deflated.length - 1;
  for (let at = 0; at <= last; ) {
    // The last byte comes by itself: a stream that ended before it is seen to have bytes behind it.
    const next = at < last ? Math.min(at + PIECE_BYTES, last) : deflated.length;
    if (hasEnded(stream)) throw new RangeError('there are bytes behind the end of a deflate stream');
    stream.push(deflated.subarray(at, next));
    at = next;
  }
  if (!hasEnded(stream) || length !== size) throw new RangeError(`a deflate stream holds ${length} bytes, not ${size}`);
  return inflated;
}

/**
 * Whether the last block is over. fflate drops further input without a word, and tells nobody: its own Gunzip looks at the
 * same two fields, whether the block is the last one and the codes of a block that is not over.
 */
function hasEnded(stream: Inflate): boolean {
  const { f: isLast, l: codes }: { readonly f?: number; readonly l?: unknown } = stream['s'];
  return Boolean(isLast) && !codes;
}
