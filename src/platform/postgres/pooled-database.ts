import type { Pool, PoolClient, QueryResult } from 'pg';
import { DiskFull, diskFullOf, isNoSpace } from '../disk/disk-full.js';
import type { DiskWatch } from '../disk/disk-watch.js';
import type { Database, Decided, Scope, SqlStatement, Tx } from './database.js';
import { executeAll } from './execute-all.js';
import { ping } from './ping.js';
import { IN_FAILED_TRANSACTION, sendTogether, type UnsentStatement } from './send-together.js';
import { heldSettings } from './service-role.js';
import { createStatementNames, isNameRefused, type StatementNames } from './statement-names.js';
import {
  DatabaseReadOnly,
  DatabaseUnreachable,
  isDatabaseUnavailable,
  isRetried,
  wasNotSent,
} from './transient-errors.js';
import { withWideIntegers } from './wide-integers.js';

const ATTEMPTS = 5;
const FIRST_PAUSE_MS = 20;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const SET_SCOPE = `SELECT set_config('archivist.readable', $1, true), set_config('archivist.writable', $2, true),
  set_config('archivist.scope', $3, true)`;
const EVERY_TENANCY = ['', '', 'system'];

/** A database over a pool; the queue may use connections of its own to the same one. */
export interface PooledDatabase extends Database {
  /** Under the service's role, with BullMQ's schema on its search path. */
  readonly queuePool: Pool;
}

function uuidArray(ids: readonly string[]): string {
  if (!ids.every((id) => UUID.test(id))) throw new TypeError('a scope is made of UUIDs');
  return ids.length === 0 ? '' : `{${ids.join(',')}}`;
}

/** What begins a transaction. */
function setScope(scope: Scope, engine: Database['engine']): SqlStatement {
  if (typeof scope === 'string') return { text: SET_SCOPE, values: EVERY_TENANCY };
  const tenancies = 'system' in scope ? EVERY_TENANCY : [uuidArray(scope.read), uuidArray(scope.write), ''];
  const settings = heldSettings(engine, scope.settings);
  const others = settings.map((_, place) => `, set_config($${2 * place + 4}, $${2 * place + 5}, true)`);
  return { text: SET_SCOPE + others.join(''), values: [...tenancies, ...settings.flat()] };
}

function isReading(scope: Scope): boolean {
  if (typeof scope === 'string') return scope === 'system reading';
  return 'system' in scope ? scope.system === 'reading' : scope.write.length === 0;
}

/** What a transaction sends on its connection. */
interface Sender {
  send(text: string, values?: readonly unknown[], hasRows?: boolean): Promise<QueryResult>;
  /** Sends at once what waits for the end of this turn of the event loop. */
  flush(): void;
}

/**
 * Sends what is queried in one turn of the event loop together. In measurements, a write to the socket for each statement
 * was a fifth of the processor time of a registration, and an answer to each a tenth of the server's.
 */
function senderOn(client: PoolClient, names: StatementNames): Sender {
  let unsent: UnsentStatement[] = [];
  function flush(): void {
    const statements = unsent;
    unsent = [];
    if (statements.length > 0) sendTogether(client, statements);
  }
  return {
    flush,
    send: (text, values = [], hasRows = false) =>
      new Promise((resolve, reject) => {
        if (unsent.push({ text, values, name: names.nameOf(text), hasRows, resolve, reject }) === 1)
          process.nextTick(flush);
      }),
  };
}

function transactionOn(sender: Sender, hasEnded: () => boolean): Tx {
  let failure: unknown;
  // After a statement that has failed, each other one says only that.
  const failed = (error: unknown): never => {
    failure ??= error;
    throw (error as { code?: unknown } | null)?.code === IN_FAILED_TRANSACTION ? failure : error;
  };
  const send = async (text: string, values: readonly unknown[] | undefined, hasRows: boolean) => {
    // The connection may belong to another transaction by now.
    if (hasEnded()) throw new Error('the transaction has ended: no statement may follow');
    return sender.send(text, values, hasRows).catch(failed);
  };
  return {
    query: async <Row extends object>(text: string, values?: readonly unknown[]) =>
      withWideIntegers(await send(text, values, true)) as Row[],
    execute: async (text, values) => (await send(text, values, false)).rowCount ?? 0,
  };
}

/** A failed commit that was sent may have taken effect: such a transaction is never retried. */
class CommitFailed extends Error {}

async function commit(sender: Sender): Promise<void> {
  const { command } = await sender.send('COMMIT').catch((error: unknown) => {
    if ((error as { code?: unknown }).code === IN_FAILED_TRANSACTION) return { command: 'ROLLBACK' };
    throw wasNotSent(error) || isNameRefused(error) ? error : new CommitFailed('the commit failed', { cause: error });
  });
  // If work has swallowed the error of a statement, COMMIT returns ROLLBACK without an error.
  if (command !== 'COMMIT') throw new Error('a statement of the transaction had failed: nothing was committed');
}

/** What the service knows of the database's disk. */
export type DatabaseDisk = Pick<DiskWatch, 'isFull' | 'report'>;

/** Where transactions run. */
interface Place {
  readonly engine: Database['engine'];
  readonly pool: Pool;
  readonly disk: DatabaseDisk | undefined;
  /** What the connections know. */
  readonly names: StatementNames;
}

/** True for a write in a read-only transaction. */
export function isReadOnly(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === '25006';
}

/** On a full disk a transaction may only read. */
function refusedWrite(error: unknown, disk: DatabaseDisk | undefined, readOnly: boolean): unknown {
  if (readOnly && isReadOnly(error)) return new DiskFull('database');
  const cause = error instanceof CommitFailed ? error.cause : error;
  const itsOwn = !(cause instanceof DiskFull) && isNoSpace(cause) && diskFullOf(cause).use === 'database';
  if (itsOwn) disk?.report('database');
  return error;
}

/** A transaction to run. */
interface Asked<T> {
  readonly begin: SqlStatement;
  readonly onlyReads: boolean;
  /**
   * Rejects, and never throws at once: the first statements are sent, and their answers are waited for also then.
   * @param commit sends the commit; without it, the commit follows when the work has resolved
   */
  readonly work: (tx: Tx, commit: () => void) => Promise<T>;
}

async function attempt<T>({ pool, disk, names }: Place, { begin, onlyReads, work }: Asked<T>): Promise<T> {
  const client = await pool.connect().catch((error: unknown) => {
    throw isDatabaseUnavailable(error) ? error : new DatabaseUnreachable(error);
  });
  const full = disk?.isFull('database') === true;
  let broken = false;
  // A connection that breaks while we use it reports that in an event as well as in its next query.
  const onError = (): void => {
    broken = true;
  };
  client.on('error', onError);
  const release = (): void => {
    client.off('error', onError);
    // A connection that could not roll back is discarded.
    client.release(broken);
  };
  const sender = senderOn(client, names);
  const rollBack = () => {
    sender.flush();
    return client.query('ROLLBACK').then(release, () => {
      broken = true;
      release();
    });
  };
  let ending: Promise<void> | undefined;
  let ended = false;
  const end = (): Promise<void> => {
    ended = true;
    ending ??= commit(sender);
    return ending;
  };
  try {
    // The first statements of the work follow in the same round trip. The settings end with the transaction and never
    // stay on the connection; without them, no row is visible.
    const tx = transactionOn(sender, () => ended);
    const opened = tx.execute(full || onlyReads ? 'BEGIN READ ONLY' : 'BEGIN');
    const begun = Promise.all([opened, tx.execute(begin.text, begin.values)]);
    const [, worked] = await Promise.allSettled([begun, work(tx, () => void end().catch(() => undefined))]);
    await begun;
    if (worked.status === 'rejected') throw worked.reason;
    // Of what was only read, nothing depends on the end of the transaction.
    if (onlyReads) void end().then(release, rollBack);
    else await end().then(release);
    return worked.value;
  } catch (error) {
    ended = true;
    const known = onlyReads || (await outcomeKnown(ending));
    const isStandby = isReadOnly(error) && !full && !onlyReads;
    broken ||= isStandby;
    await rollBack();
    if (isStandby) throw new DatabaseReadOnly();
    throw refusedWrite(
      known || error instanceof CommitFailed ? error : new CommitFailed('', { cause: error }),
      disk,
      full,
    );
  }
}

/** False if the transaction may have been committed although its work failed: a connection broke with the commit sent. */
async function outcomeKnown(ending: Promise<void> | undefined): Promise<boolean> {
  if (!ending) return true;
  return ending.then(
    () => false,
    (error: unknown) => !(error instanceof CommitFailed),
  );
}

function pause(attempts: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, FIRST_PAUSE_MS * 2 ** attempts * (0.5 + Math.random())));
}

/** The work of a transaction whose statements are known: nothing can be sent after its commit. */
function together(statements: Iterable<SqlStatement>, beforeCommit?: () => Promise<void>): Asked<void>['work'] {
  return async (tx, commit) => {
    await executeAll(tx, statements, async () => {
      await beforeCommit?.();
      commit();
    });
  };
}

/** Reads whose statements all go out with the end of the transaction. */
async function readAtOnce<T>(place: Place, scope: Scope, work: (tx: Tx) => Promise<T>): Promise<T> {
  if (!isReading(scope)) throw new TypeError('a scope that may write');
  return inTransaction(place, scope, async (tx, commit) => {
    const result = work(tx);
    commit();
    return result;
  });
}

/** Work whose last statements go out with the commit. */
function decided<T>(work: (tx: Tx) => Promise<Decided<T>>): Asked<T>['work'] {
  return async (tx, commit) => {
    const { result, statements } = await work(tx);
    await together(statements)(tx, commit);
    return result;
  };
}

async function inTransaction<T>(place: Place, scope: Scope, work: Asked<T>['work']): Promise<T> {
  const asked = { begin: setScope(scope, place.engine), onlyReads: isReading(scope), work };
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await attempt(place, asked);
    } catch (error) {
      if (error instanceof CommitFailed) throw error.cause;
      if (attempts === ATTEMPTS || !(isRetried(error) || isNameRefused(error))) throw error;
      if (isNameRefused(error)) place.names.stop();
    }
    await pause(attempts);
  }
}

/**
 * Transactions over the connections of a pool, each of which has entered the service's role.
 * @param end ends the pools and their resources
 */
export function pooledDatabase(parts: {
  readonly engine: Database['engine'];
  readonly pool: Pool;
  readonly queuePool: Pool;
  readonly connections: number;
  readonly copyFiles?: (folder: string) => Promise<void>;
  /** While it is full, transactions may only read: a write throws {DiskFull}. */
  readonly disk: DatabaseDisk | undefined;
  end(): Promise<void>;
}): PooledDatabase {
  const { engine, pool, queuePool, connections, copyFiles, disk } = parts;
  const place = { engine, pool, disk, names: createStatementNames() };
  // Every ping listens to it.
  pool.setMaxListeners(0);
  let closing: Promise<void> | undefined;
  return {
    engine,
    connections,
    queuePool,
    ...(copyFiles ? { copyFiles } : {}),
    inTransaction: (scope, work) => inTransaction(place, scope, async (tx) => work(tx)),
    readAtOnce: (scope, work) => readAtOnce(place, scope, work),
    commitTogether: (scope, statements, beforeCommit) =>
      inTransaction(place, scope, together(statements, beforeCommit)),
    commitDecided: (scope, work) => inTransaction(place, scope, decided(work)),
    ping: () => ping(pool),
    close() {
      closing ??= parts.end();
      return closing;
    },
  };
}
