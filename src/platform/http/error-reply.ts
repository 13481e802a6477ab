import { ZodError } from 'zod';
import { ClockWrong } from '../clock-watch.js';
import { diskFullOf, isNoSpace } from '../disk/disk-full.js';
import { ApiError, retryLater } from '../errors.js';
import { KeyModuleError } from '../keys/pkcs11/key-module-error.js';
import { isDatabaseUnavailable, isRefusedValue } from '../postgres/transient-errors.js';
import { TimeLimitError } from '../time-limit.js';

const RETRY_SECONDS = 2;
const CLOCK_SECONDS = 30;

/**
 * The refusal for an error, or undefined if the error is a fault of the service. A schema error names the field; an
 * error of Express, such as a path that cannot be decoded, is a bad request.
 */
export function refusalOf(error: unknown): ApiError | undefined {
  if (error instanceof ApiError) return error;
  if (error instanceof ZodError) {
    const issue = error.issues[0];
    return new ApiError(
      'bad_request',
      `${issue?.path.join('.') || 'body'}: ${issue ? complaint(issue) : 'is invalid'}`,
    );
  }
  if (isNoSpace(error)) return diskFullOf(error);
  if (isDatabaseUnavailable(error))
    return retryLater('unavailable', 'The database does not answer; try again shortly.', RETRY_SECONDS);
  if (error instanceof KeyModuleError)
    return retryLater('unavailable', 'The signing module does not answer; try again shortly.', RETRY_SECONDS);
  if (error instanceof ClockWrong)
    return retryLater(
      'unavailable',
      `Nothing is accepted until the operator has corrected it: ${error.message}.`,
      CLOCK_SECONDS,
    );
  if (error instanceof TimeLimitError)
    return retryLater(
      'unavailable',
      'A part of the service does not answer in time; try again shortly.',
      RETRY_SECONDS,
    );
  if (isRefusedValue(error)) return new ApiError('bad_request', refusedValue(error));
  const status = (error as { status?: unknown } | null)?.status;
  if (typeof status === 'number' && status >= 400 && status < 500)
    return new ApiError('bad_request', 'The request cannot be read.');
  return undefined;
}

/** What to change; the schema's own message if it has one. */
function complaint({ code, message, ...issue }: ZodError['issues'][number]): string {
  if (code !== 'invalid_type') return message;
  if (message.endsWith('received undefined')) return 'is missing';
  const { expected } = issue as { expected?: string };
  return expected === undefined ? message : `must be of type ${expected}`;
}

/** The class of a PostgreSQL error, in words; its message may quote the value and is not repeated. */
function refusedValue(error: unknown): string {
  const { code, column } = error as { code?: string; column?: string };
  const where = column === undefined ? 'A value of the request' : column;
  if (code === '22021' || code === '22P05') return `${where}: has a character that cannot be stored, such as U+0000.`;
  if (code?.startsWith('54')) return `${where}: is too large or too complex to be searched; make it shorter.`;
  if (code === '22003') return `${where}: is a number outside the range that can be stored.`;
  return `${where}: has a form that cannot be stored or searched.`;
}

/** The body of every refusal. */
export function errorBody(error: ApiError): { error: string; description: string } {
  return { error: error.code, description: error.description };
}
