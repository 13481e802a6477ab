import type { Readable } from 'node:stream';

/** The first and the last byte of a range of an object, both included. */
interface ObjectRange {
  readonly first: number;
  readonly last: number;
}

/** Where a store keeps bytes that it does not show yet; only that store knows what it says. */
export type StagedObject = string;

/** Durable bytes by key. A key is a relative path of plain segments. */
export interface ObjectStore {
  get(key: string): Promise<Uint8Array | undefined>;
  /** Whether there is an object; nothing of it is read. */
  has(key: string): Promise<boolean>;
  /**
   * Creates an object and never replaces one: of two writers, one creates it. Durable when this resolves; readers never
   * see a partial object. Returns whether it was created, or existed with the same bytes or different ones.
   * @param staged the same bytes, staged for this key; used up
   */
  putNew(key: string, bytes: Uint8Array, staged?: StagedObject): Promise<'created' | 'same' | 'different'>;
  /** Creates or replaces an object: readers see either the old bytes or the new ones. Durable when this resolves. */
  put(key: string, bytes: Uint8Array): Promise<void>;
  /**
   * Writes bytes in advance, where a store can, so that a later `putNew` of this key is fast. No reader sees them, and
   * after a crash they are lost.
   */
  stage(key: string, bytes: Uint8Array): Promise<StagedObject>;
  /** Removes staged bytes that were not used; does nothing if they were. */
  discard(staged: StagedObject): Promise<void>;
  /**
   * Creates an object from a stream without holding it in memory. Readers see it only when it is complete and durable;
   * if the stream fails, no object is created.
   * @throws what the stream throws; {Error} when an object with this key exists; one with the same bytes may count as its own
   */
  putStream(key: string, content: AsyncIterable<Uint8Array>): Promise<{ size: number }>;
  /** An object, or a range within it, as a stream that the caller reads to its end or destroys. */
  open(key: string, range?: ObjectRange): Promise<Readable | undefined>;
  /**
   * Removes an object and the remains of interrupted writes; does nothing if it does not exist. Not safe while another
   * caller writes it.
   */
  remove(key: string): Promise<void>;
  /**
   * Removes the bytes of interrupted writes that were last written before this time, and returns how many there were. A
   * write in progress must be younger.
   */
  removeUnfinished(before: Date): Promise<number>;
  /** Keys that begin with this prefix, in ascending order. */
  list(prefix: string): Promise<string[]>;
  /** Resolves if objects can be read and written. @throws {Error} saying why not */
  ping(): Promise<void>;
}
