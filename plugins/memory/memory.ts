/** The collections of the memory, and for how many days an entry is kept after its last change. */
export const COLLECTIONS = {
  /** For each vCon: its last hash, its consents, its first predecessor, the captured operations. */
  vcons: 90,
  /** What has left a chain and what was captured, until the two match. */
  tap: 14,
  /** Gap records that are being delivered. */
  gaps: 90,
  /** Operations that two methods have captured. */
  doubles: 30,
  /** The name under which the queue of this memory reports to the service. */
  reporter: 90,
  /** Receipts that were fetched from the log, by vCon and hash. */
  receipts: 90,
} as const;
export type Collection = keyof typeof COLLECTIONS;

export type Fields = Readonly<Record<string, string>>;

/** What the plugin must remember outside its queue: each collection holds small maps of texts by name. */
export interface Memory {
  /** The fields under this name; empty if nothing is remembered. */
  read(collection: Collection, name: string): Promise<Fields>;
  /** Sets these fields and removes those that are null. Durable once it resolves. */
  write(collection: Collection, name: string, fields: Readonly<Record<string, string | null>>): Promise<void>;
  /** @param unchanged forgets it only if it still has these fields and no other */
  forget(collection: Collection, name: string, unchanged?: Fields): Promise<void>;
  /**
   * Waits until no other process that shares the memory holds this name, and holds it; the result lets it go. A holder that
   * does not let it go loses it after three seconds, and nobody waits longer than a second: captures are never refused for it.
   */
  hold(collection: Collection, name: string): Promise<() => Promise<void>>;
  /** Every name of a collection, in no particular order; may include one that has just been forgotten. */
  names(collection: Collection): AsyncIterable<string>;
  close(): Promise<void>;
}
