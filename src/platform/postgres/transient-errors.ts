import { failureReason } from '../explain-failure.js';

/**
 * SQLSTATEs after which nothing of the transaction is stored and a retry may succeed: serialization failure, deadlock, a
 * server that shuts down or is still starting or has no connection left, and a session that the server ended because it was
 * idle for too long.
 */
const RETRIED: ReadonlySet<string> = new Set([
  ...['40001', '40P01', '57P01', '57P02', '57P03', '53300'],
  ...['25P03', '57P05'],
]);
/** Node's error codes for a connection that failed or broke. */
const BROKEN: ReadonlySet<string> = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT'],
  ...['EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH', 'ENETDOWN'],
  // A container that is stopped has no name either.
  ...['EAI_AGAIN', 'ENOTFOUND'],
]);
const QUERY_CANCELED = '57014';
/** Another transaction holds the lock for longer than `lock_timeout`. */
const LOCK_NOT_AVAILABLE = '55P03';
const IO_ERROR = '58030';
/** The driver gives these no code. */
const LOST = /^(Connection terminated|Client has encountered a connection)/;
/** The connection was known to be lost. */
const NOT_SENT = /^Client has encountered a connection error and is not queryable/;
/** No connection was free, or no answer came, in time: retrying would only wait as long again. */
const TOO_LATE = /^(timeout exceeded when trying to connect|Query read timeout)/;

/**
 * The connection leads to a server that only reads. After a failover this is the former primary; another connection may
 * lead to the new one.
 */
export class DatabaseReadOnly extends Error {
  override readonly name = 'DatabaseReadOnly';

  constructor() {
    super('the database only reads: it is a standby, or default_transaction_read_only is on');
  }
}

/** No connection can be opened: the server's certificate is refused, or the server refuses our role. */
export class DatabaseUnreachable extends Error {
  override readonly name = 'DatabaseUnreachable';

  constructor(cause: unknown) {
    super(`no connection to the database: ${failureReason(cause)}`, { cause });
  }
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
}

function matches(error: unknown, message: RegExp): boolean {
  return error instanceof Error && message.test(error.message);
}

function isBrokenConnection(error: unknown): boolean {
  const code = codeOf(error);
  return BROKEN.has(code) || code.startsWith('08') || matches(error, LOST);
}

/** True if the driver has not sent the statement that failed with this error. */
export function wasNotSent(error: unknown): boolean {
  return matches(error, NOT_SENT);
}

/** True if a transaction that failed with this error, before its commit was sent, can be retried. */
export function isRetried(error: unknown): boolean {
  return RETRIED.has(codeOf(error)) || isBrokenConnection(error) || error instanceof DatabaseReadOnly;
}

/** True if the database, not the request, is at fault: the caller should try again later. */
export function isDatabaseUnavailable(error: unknown): boolean {
  const code = codeOf(error);
  const late = code === QUERY_CANCELED || code === LOCK_NOT_AVAILABLE || matches(error, TOO_LATE);
  return isRetried(error) || late || code.startsWith('53') || error instanceof DatabaseUnreachable;
}

/**
 * True if a request fails through no fault of its own: the database is unavailable, or its disk could not be read or written.
 * An audit does not wait for such a disk, because a block that is never read again is damage.
 */
export function isDatabaseFailing(error: unknown): boolean {
  return isDatabaseUnavailable(error) || codeOf(error) === IO_ERROR;
}

/** True if the database refused a value: text it cannot store, or a number or row that is too large. */
export function isRefusedValue(error: unknown): boolean {
  return /^(22|54)[0-9A-Z]{3}$/.test(codeOf(error));
}
