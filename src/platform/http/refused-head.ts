import type { IncomingMessage } from 'node:http';
import { ApiError } from '../errors.js';

/**
 * Returns the refusal of a request by its head, before any handler sees it; undefined for a head that is accepted.
 * Node.js would answer some of these requests without a body, and accept the others as if nothing were wrong.
 */
export function refusedHead({ headers, rawHeaders, httpVersion }: IncomingMessage): ApiError | undefined {
  const hosts = countHosts(rawHeaders);
  // RFC 9112 section 3.2
  if (hosts === 0 && httpVersion === '1.1') return new ApiError('bad_request', 'The request must have a Host header.');
  if (hosts > 1) return new ApiError('bad_request', 'Host: must be given once.');
  const { host = '', 'transfer-encoding': coding, expect: expectation } = headers;
  if (!HOST.test(host)) return new ApiError('bad_request', 'Host: must be a host name or an address, with its port.');
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') return refusedCoding(coding);
  // RFC 9110 section 10.1.1
  if (expectation !== undefined && !expectation.split(',').every((each) => CONTINUE.test(each.trim())))
    return new ApiError('expectation_failed', 'Expect: only 100-continue is supported; leave the header out.');
  return undefined;
}

/** A name, an IPv4 address or one in brackets, with or without a port; also empty (RFC 9110 section 7.2). */
const HOST = /^(\[[\da-f:.]+\]|([\w\-.~!$&'()*+,;=]|%[\da-f]{2})*)(:\d*)?$/i;

/**
 * Also an empty member: some clients send an empty header in order not to wait. White space around it is
 * trimmed before: a pattern that skips it at both ends takes a second for 32 KiB of it.
 */
const CONTINUE = /^(100-continue)?$/i;

/** Header lines of this name; Node.js shows only the first of them by its name. */
function countHosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let place = 0; place < rawHeaders.length; place += 2)
    if (rawHeaders[place]!.length === 4 && rawHeaders[place]!.toLowerCase() === 'host') count += 1;
  return count;
}

/** Only a body whose last coding is chunked has an end (RFC 9112 sections 6.1 and 6.3). */
function refusedCoding(coding: string): ApiError {
  const hasEnd = /(^|,)\s*chunked\s*$/i.test(coding);
  const description = 'Transfer-Encoding: must be chunked; no other transfer coding is supported.';
  return new ApiError(hasEnd ? 'not_implemented' : 'bad_request', description);
}
