import { ZodError, type z } from 'zod';
import { ClockWrong } from '../clock-watch.js';
import { diskFullOf, isNoSpace } from '../disk/disk-full.js';
import { ApiError, type ErrorCode, retryLater } from '../errors.js';
import { KeyModuleError } from '../keys/pkcs11/key-module-error.js';
import { ObjectStoreFailed } from '../object-store-failed.js';
import { isDatabaseFailing, isRefusedValue } from '../postgres/transient-errors.js';
import { TimeLimitError } from '../time-limit.js';

const RETRY_SECONDS = 2;
const CLOCK_SECONDS = 30;

/**
 * The refusal for an error, or undefined if the error is a fault of the service. A schema error names the field; an
 * error of Express, such as a path that cannot be decoded, is a bad request.
 */
export function refusalOf(error: unknown): ApiError | undefined {
  if (error instanceof ApiError) return error;
  if (error instanceof ZodError) return schemaRefusal(error, 'body');
  if (isNoSpace(error)) return diskFullOf(error);
  if (isDatabaseFailing(error))
    return retryLater('unavailable', 'The database does not answer; try again shortly.', RETRY_SECONDS);
  if (error instanceof KeyModuleError)
    return retryLater('unavailable', 'The signing module does not answer; try again shortly.', RETRY_SECONDS);
  if (error instanceof ObjectStoreFailed)
    return retryLater('unavailable', 'The object store does not answer; try again shortly.', RETRY_SECONDS);
  if (error instanceof ClockWrong)
    return retryLater(
      'unavailable',
      `The service accepts nothing while its clock is wrong: ${error.message}. Try again when the operator has corrected it.`,
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
    return new ApiError('bad_request', 'The path cannot be decoded: its percent-encoding must be UTF-8.');
  return undefined;
}

/** The refusal of a value that a schema does not accept. @param whole what the value is */
export function schemaRefusal(
  { issues }: ZodError,
  whole: 'body' | 'query' | 'path',
  code: ErrorCode = 'bad_request',
): ApiError {
  const [issue] = issues;
  if (whole === 'query' && issue?.code === 'invalid_type' && issue.message.endsWith('received array'))
    return new ApiError(code, `${issue.path.join('.')}: must be given once`);
  return new ApiError(code, `${issue?.path.join('.') || whole}: ${issue ? complaint(issue) : 'is invalid'}`);
}

/** The validator's types, as people who write JSON call them. */
const TYPE_NAMES: Readonly<Record<string, string>> = {
  record: 'a JSON object',
  object: 'a JSON object',
  array: 'a JSON array',
  string: 'a string',
  number: 'a number',
  boolean: 'true or false',
};

/** What to change; the schema's own message if it has one. */
function complaint(issue: ZodIssue): string {
  if (!SCHEMA_TEXT.test(issue.message)) return issue.message;
  switch (issue.code) {
    case 'invalid_type':
      return issue.message.endsWith('received undefined')
        ? 'is missing'
        : `must be ${TYPE_NAMES[issue.expected] ?? `of type ${issue.expected}`}`;
    case 'invalid_value':
      return `must be one of ${issue.values.map(String).join(', ')}`;
    case 'too_big':
      return `must ${bound('at most', Number(issue.maximum), issue.origin)}`;
    case 'too_small':
      return `must ${bound('at least', Number(issue.minimum), issue.origin)}`;
    case 'invalid_key':
    case 'invalid_element':
      return issue.issues[0] ? complaint(issue.issues[0]) : 'is invalid';
    case 'invalid_union': {
      const last = issue.errors.at(-1)?.[0];
      return last ? complaint(last) : 'has a form that is not accepted';
    }
    case 'unrecognized_keys':
      return `${issue.keys[0]} is not known here; remove it or correct its name`;
    default:
      return 'has a form that is not accepted';
  }
}

/** How the texts of the validator itself begin. */
const SCHEMA_TEXT = /^(Invalid|Too big|Too small|Unrecognized)/;

type ZodIssue = z.core.$ZodIssue;

const COUNTED: Readonly<Record<string, string>> = { string: 'characters', array: 'entries' };

function bound(limit: string, value: number, origin: string): string {
  if (value === 1 && limit === 'at least' && COUNTED[origin]) return 'not be empty';
  return COUNTED[origin] ? `have ${limit} ${value} ${COUNTED[origin]}` : `be ${limit} ${value}`;
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
