/**
 * SQLSTATEs after which the database holds nothing of the transaction and the same work may succeed: serialization
 * failure, deadlock, and the ways in which a server goes down or is not up yet.
 */
const RETRIED: ReadonlySet<string> = new Set(['40001', '40P01', '57P01', '57P02', '57P03', '53300']);
/** Node's names for a connection that could not be made or broke. */
const BROKEN: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EAI_AGAIN']);
const QUERY_CANCELED = '57014';
/** The driver gives these no code. */
const LOST = /^(Connection terminated|Client has encountered a connection)/;
/** Nobody gave a connection back in time: to wait as long again would help nobody. */
const NONE_FREE = /^timeout exceeded when trying to connect/;

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

/** True when a transaction that failed so before its commit was sent can be run again. */
export function isRetried(error: unknown): boolean {
  return RETRIED.has(codeOf(error)) || isBrokenConnection(error);
}

/** True when the database, not the request, is at fault: what a caller should hear is "try again later". */
export function isDatabaseUnavailable(error: unknown): boolean {
  const code = codeOf(error);
  return isRetried(error) || code === QUERY_CANCELED || code.startsWith('53') || matches(error, NONE_FREE);
}

/** True when the database refused a value as such: text it cannot store, a number or a row that is too big. */
export function isRefusedValue(error: unknown): boolean {
  return /^(22|54)[0-9A-Z]{3}$/.test(codeOf(error));
}
