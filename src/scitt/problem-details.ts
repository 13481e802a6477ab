import { type CborMap, encodeCbor } from '../core/cose/cbor.js';
import type { ApiError, ErrorCode } from '../platform/errors.js';
import type { Refusal } from '../platform/http/route.js';
import { StatementRefused } from './statement-refused.js';

/** Keys of a problem-details map (RFC 9290 section 2). */
const TITLE = -1;
const DETAIL = -2;

const TITLES: Readonly<Record<Exclude<ErrorCode, 'not_found'>, string>> = {
  bad_request: 'Malformed request',
  unauthorized: 'Unauthorized',
  quota_reached: 'Quota Reached',
  forbidden: 'Forbidden',
  not_ready: 'Not Ready',
  method_not_allowed: 'Method Not Allowed',
  conflict: 'Conflict',
  gone: 'Gone',
  unprocessable: 'Unprocessable Content',
  payload_too_large: 'Payload Too Large',
  unsupported_media_type: 'Unsupported Media Type',
  expectation_failed: 'Expectation Failed',
  rate_limited: 'Too Many Requests',
  internal: 'Internal Server Error',
  not_implemented: 'Not Implemented',
  unavailable: 'Service Unavailable',
  disk_full: 'Insufficient Storage',
};

const CONTENT_TYPE = 'application/concise-problem-details+cbor';

const SCHEMA = {
  type: 'object',
  description:
    'Concise problem details (RFC 9290): a CBOR map with integer keys, shown here as text: -1 is the title, -2 the detail.',
  required: ['-1', '-2'],
  properties: {
    '-1': { type: 'string', description: 'Title: short, and the same for all errors of this kind' },
    '-2': { type: 'string', description: 'Detail: what is wrong with this request' },
  },
} as const;

/**
 * Errors as concise problem details (RFC 9290), which every SCRAPI error uses.
 * @param notFound the title for a missing resource, which the draft defines for each resource
 */
export function problemDetails(notFound = 'Not Found'): Refusal {
  return {
    form: { contentType: CONTENT_TYPE, name: 'ProblemDetails', schema: SCHEMA },
    tell(error) {
      const details: CborMap = new Map([
        [TITLE, titleOf(error, notFound)],
        [DETAIL, error.description],
      ]);
      return { bytes: encodeCbor(details), contentType: CONTENT_TYPE };
    },
  };
}

function titleOf(error: ApiError, notFound: string): string {
  if (error instanceof StatementRefused) return error.title;
  return error.code === 'not_found' ? notFound : TITLES[error.code];
}
