import type { Readable } from 'node:stream';

/** The first and the last byte of a part of an object, both included. */
export interface ObjectRange {
  readonly first: number;
  readonly last: number;
}

/** Durable bytes by key. A key is a relative path of plain segments. */
export interface ObjectStore {
  get(key: string): Promise<Uint8Array | undefined>;
  /**
   * Creates an object, never replaces one: of two writers one creates. Durable once it resolves, and never seen in part.
   * Answers whether it was created, or was there with the same bytes, or with different ones.
   */
  putNew(key: string, bytes: Uint8Array): Promise<'created' | 'same' | 'different'>;
  /** Creates or replaces an object: readers see the old bytes or the new, whole. Durable once it resolves. */
  put(key: string, bytes: Uint8Array): Promise<void>;
  /**
   * Creates an object from a stream without holding it in memory. Nobody sees it before it is whole and durable; when the
   * stream fails there is no object.
   * @throws what the stream throws; {Error} when there is an object of this key
   */
  putStream(key: string, content: AsyncIterable<Uint8Array>): Promise<{ size: number }>;
  /** An object, or a part of it that lies within, as a stream that the caller reads to its end or destroys. */
  open(key: string, range?: ObjectRange): Promise<Readable | undefined>;
  /** Removes an object and what interrupted writers of it left; nothing happens when there is none. Not while one writes. */
  remove(key: string): Promise<void>;
  /** Keys that begin with this prefix, in ascending order. */
  list(prefix: string): Promise<string[]>;
}
