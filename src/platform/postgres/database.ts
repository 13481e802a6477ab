/** A running transaction. Values are always bound. */
export interface Tx {
  /** Rows of a statement: int8 as bigint, bytea as Uint8Array, timestamptz as Date, jsonb parsed. */
  query<Row extends object = Record<string, unknown>>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Runs a statement and answers how many rows it touched. */
  execute(text: string, values?: readonly unknown[]): Promise<number>;
}

/**
 * What a transaction may see and change: every tenancy, or the named ones. Nothing outside is there for it, whatever its
 * queries say.
 */
export type Scope = 'system' | { readonly read: readonly string[]; readonly write: readonly string[] };

export interface Database {
  /** Names the engine to a person. */
  readonly engine: 'PostgreSQL' | 'embedded PostgreSQL';
  /** How many transactions can run at once. */
  readonly connections: number;
  /**
   * Runs work in one READ COMMITTED transaction and commits it. A transaction that the database gave up in favour of
   * another one is run again a few times, so work must have no effect but through `tx`. Inside work nothing else may wait
   * for the database or for a queue in it: enqueue after the commit.
   * @throws {TypeError} for a scope that is not made of UUIDs; else what work throws, after a rollback
   */
  inTransaction<T>(scope: Scope, work: (tx: Tx) => Promise<T>): Promise<T>;
  /** Resolves when the database answers. */
  ping(): Promise<void>;
  close(): Promise<void>;
}
