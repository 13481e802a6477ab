/** A running transaction. Values are always bound. After its end it takes no more statements. */
export interface Tx {
  /** Rows of a statement: int8 as bigint, bytea as Uint8Array, timestamptz as Date, jsonb parsed. */
  query<Row extends object = Record<string, unknown>>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Runs a statement and returns the number of affected rows. */
  execute(text: string, values?: readonly unknown[]): Promise<number>;
}

/** A statement that is made before it is sent. */
export interface SqlStatement {
  readonly text: string;
  /** Always bound. */
  readonly values: readonly unknown[];
  /** What the sender throws for an error of this statement; the error itself unless told. */
  readonly refusal?: (error: unknown) => unknown;
  /** The next one is made when this one has run, so that other requests are served in between. */
  readonly isLong?: boolean;
}

/** What work came to, with the statements that it leaves to be sent with the commit. */
export interface Decided<T> {
  readonly result: T;
  readonly statements: Iterable<SqlStatement>;
}

/**
 * The tenancies that a transaction may read and change: all, or the named ones. Rows of other tenancies are invisible
 * to its queries. `system reading`, and a scope that may change no tenancy, is a READ ONLY transaction; its result is
 * returned before its end is confirmed.
 */
export type Scope =
  | 'system'
  | 'system reading'
  | SystemScope
  | { readonly read: readonly string[]; readonly write: readonly string[]; readonly settings?: ScopeSettings };

/** Every tenancy. */
export interface SystemScope {
  readonly system: 'writing' | 'reading';
  readonly settings: ScopeSettings;
}

/** Settings of the database by name, which hold until the transaction ends. */
export type ScopeSettings = Readonly<Record<string, string>>;

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
  /**
   * Runs work that only reads, and sends all its statements in the turn of the event loop in which it is called: the end
   * of the transaction goes out with them, in the same round trip. Otherwise as `inTransaction`.
   * @throws {TypeError} for a scope that may write
   */
  readAtOnce<T>(scope: Scope, work: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * Runs these statements in one transaction, in their order, and sends its commit with them, in the same round trip: all
   * of them are committed, or nothing. Retried like `inTransaction`.
   * @param beforeCommit runs when the statements are sent; the commit follows when it resolves, and never if it fails
   * @throws the refusal of the first statement that fails
   */
  commitTogether(scope: Scope, statements: readonly SqlStatement[], beforeCommit?: () => Promise<void>): Promise<void>;
  /**
   * Runs work as `inTransaction` does, then the statements that it resolves with, and sends the commit with them, in the
   * same round trip. Retried like `inTransaction`, also when one of those statements meets a conflict.
   * @throws every error of `work`; the refusal of the first statement that fails. Nothing is committed then.
   */
  commitDecided<T>(scope: Scope, work: (tx: Tx) => Promise<Decided<T>>): Promise<T>;
  /** Resolves when the database answers, also while it is so busy that this waits for other work. */
  ping(): Promise<void>;
  /**
   * Only the embedded engine, which one process owns: copies its files to a folder that does not exist yet. Transactions
   * wait meanwhile, so the copy is the database of one moment, as after a crash.
   */
  readonly copyFiles?: (folder: string) => Promise<void>;
  close(): Promise<void>;
}
