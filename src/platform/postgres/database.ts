/** A running transaction. Values are always bound. */
export interface Tx {
  /** Rows of a statement: int8 as bigint, bytea as Uint8Array, timestamptz as Date, jsonb parsed. */
  query<Row extends object = Record<string, unknown>>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Runs a statement and returns the number of affected rows. */
  execute(text: string, values?: readonly unknown[]): Promise<number>;
  /**
   * Says that no statement follows those that were sent: the commit goes out with them, in the same round trip. If one of
   * them fails, nothing is committed. Afterwards the work may fail only because one of them has failed.
   */
  finish(): void;
}

/**
 * What a transaction may read and change: every tenancy, or the named ones. Rows of other tenancies are invisible to
 * its queries. `system reading` reads every tenancy in a READ ONLY transaction, whose result is there before its end is
 * confirmed.
 */
export type Scope =
  | 'system'
  | 'system reading'
  | { readonly read: readonly string[]; readonly write: readonly string[] };

export interface Database {
  /** Name of the engine, for messages. */
  readonly engine: 'PostgreSQL' | 'embedded PostgreSQL';
  /** How many transactions can run at once. */
  readonly connections: number;
  /**
   * Runs work in one READ COMMITTED transaction and commits it. If the database aborts the transaction because of a
   * conflict, it is retried a few times, so work must have no effects except through `tx`. Work must not wait for
   * another transaction or for a queue in the database: enqueue after the commit.
   * @throws {TypeError} for a scope that is not made of UUIDs; else every error of `work`, after a rollback
   */
  inTransaction<T>(scope: Scope, work: (tx: Tx) => Promise<T>): Promise<T>;
  /** Resolves when the database answers. */
  ping(): Promise<void>;
  /**
   * Only the embedded engine, which one process owns: copies its files to a folder that does not exist yet. Transactions
   * wait meanwhile, so the copy is the database of one moment, as after a crash.
   */
  readonly copyFiles?: (folder: string) => Promise<void>;
  close(): Promise<void>;
}
