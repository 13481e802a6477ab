import { type CborMap, encodeCbor } from '../core/cose/cbor.js';
import type { ApiError, ErrorCode } from '../platform/errors.js';
import type { Reply } from '../platform/http/route.js';
import { StatementRefused } from './statement-refused.js';

/** Keys of a problem-details map (RFC 9290 section 2). */
const TITLE = -1;
const DETAIL = -2;

const TITLES: Readonly<Partial<Record<ErrorCode, string>>> = {
  bad_request: 'Malformed request',
  unauthorized: 'Unauthorized',
  quota_reached: 'Quota Reached',
  forbidden: 'Forbidden',
  not_found: 'Not Found',
  not_ready: 'Not Ready',
  method_not_allowed: 'Method Not Allowed',
  payload_too_large: 'Payload Too Large',
  unsupported_media_type: 'Unsupported Media Type',
  rate_limited: 'Too Many Requests',
  internal: 'Internal Server Error',
  unavailable: 'Service Unavailable',
};

/** A refusal as concise problem details (RFC 9290): the form of every error of SCRAPI. */
export function problemDetails(error: ApiError): Reply {
  return told(error, error instanceof StatementRefused ? error.title : TITLES[error.code]);
}

/** The same with another title for what is not there, as the draft has one for each of its resources. */
export function problemDetailsOf(notFound: string): (error: ApiError) => Reply {
  return (error) => (error.code === 'not_found' ? told(error, notFound) : problemDetails(error));
}

function told(error: ApiError, title: string | undefined): Reply {
  const details: CborMap = new Map([
    [TITLE, title ?? error.code],
    [DETAIL, error.description],
  ]);
  return { bytes: encodeCbor(details), contentType: 'application/concise-problem-details+cbor' };
}
