import { CERTIFICATE_FAULTS, MEANINGS } from './explain-failure.js';
import { TimeLimitError } from './time-limit.js';

/** A failure whose message has only fixed words: anybody may read it. */
export class PublicFailure extends Error {
  override readonly name = 'PublicFailure';
}

/** What a server says, by its SQLSTATE, by the first word of a Redis's answer, or by the name of an S3 server's error. */
const ANSWERS: Readonly<Record<string, string>> = {
  '28P01': 'the server refuses the password',
  WRONGPASS: 'the server refuses the password',
  NOAUTH: 'the server asks for a password',
  '28000': 'the server refuses the user',
  NOPERM: 'the server refuses the user',
  '3D000': 'the server has no such database',
  '53300': 'the server has no connection left',
  '57P03': 'the server is starting',
  LOADING: 'the server is starting',
  '57P01': 'the server shuts down',
  '53100': 'the disk of the server is full',
  MISCONF: 'the server cannot write to its disk',
  OOM: 'the memory of the server is full',
  READONLY: 'the server only reads',
  CLUSTERDOWN: 'the cluster is down',
  NoSuchBucket: 'the server has no such bucket',
  InvalidAccessKeyId: 'the server refuses the user',
  SignatureDoesNotMatch: 'the server refuses the password',
  AccessDenied: 'the user may not do this',
  ExpiredToken: 'the credentials have expired',
  SlowDown: 'the server is too busy',
  ServiceUnavailable: 'the server is too busy',
};
const WORDS = new Map(Object.entries({ ...CERTIFICATE_FAULTS, ...MEANINGS, ...ANSWERS }));
/** Drivers give these no code. */
const LATE =
  /^(Command timed out|Socket timeout|timeout exceeded when trying to connect|Query read timeout|connect ETIMEDOUT)/;
const LOST = /^(Connection is closed|Reached the max retries per request limit|Connection terminated)/;
/** What a PKCS #11 module returned. */
const MODULE_CODE = /^CKR_[A-Z_]+$/;

/**
 * Returns why a call to a service outside failed, for callers without a token: only words of this program and codes of a
 * known form, so no address, name or password. Undefined if these say nothing about the failure.
 */
export function publicReason(error: unknown): string | undefined {
  if (error instanceof AggregateError && error.errors.length > 0) return publicReason(error.errors[0]);
  if (!(error instanceof Error)) return undefined;
  if (error instanceof PublicFailure) return error.message;
  if (error instanceof TimeLimitError || error.name === 'TimeoutError' || LATE.test(error.message))
    return 'no answer in time';
  if (LOST.test(error.message)) return 'the connection was closed';
  const { code = /^[A-Z]+(?= )/.exec(error.message)?.[0] ?? '' } = error as NodeJS.ErrnoException;
  const meaning = WORDS.get(code);
  if (meaning !== undefined) return `${meaning} (${code})`;
  return MODULE_CODE.test(code) ? `the module returns ${code}` : publicReason(error.cause);
}
