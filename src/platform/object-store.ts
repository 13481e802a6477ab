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
  /** Keys that begin with this prefix, in ascending order. */
  list(prefix: string): Promise<string[]>;
}
