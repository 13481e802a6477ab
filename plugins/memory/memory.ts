/** Names of what is remembered, and for how many days since its last change. */
export const COLLECTIONS = {
  /** Of each vCon: its last hash, its consents, its first predecessor, the operations that were captured. */
  vcons: 90,
  /** What has left a chain, and what was captured, until the two meet. */
  tap: 14,
  /** Gap records on their way to the log. */
  gaps: 90,
  /** Operations that two methods have captured. */
  doubles: 30,
  /** What came home from the log, by vCon and hash. */
  receipts: 90,
} as const;
export type Collection = keyof typeof COLLECTIONS;

export type Fields = Readonly<Record<string, string>>;

/** What the plugin must remember beside its queue: in each collection, small maps of texts, each by its name. */
export interface Memory {
  /** The fields under this name; none where nothing is remembered. */
  read(collection: Collection, name: string): Promise<Fields>;
  /** Sets these fields, and takes away those that are null. Survives a crash once it resolves. */
  write(collection: Collection, name: string, fields: Readonly<Record<string, string | null>>): Promise<void>;
  forget(collection: Collection, name: string): Promise<void>;
  /** Every name of a collection, in no order; one may be given that is forgotten meanwhile. */
  names(collection: Collection): AsyncIterable<string>;
  close(): Promise<void>;
}
