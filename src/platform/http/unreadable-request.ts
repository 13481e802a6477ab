import { ApiError } from '../errors.js';

/** What the HTTP parser of Node.js reports of a request that it does not pass on. */
export interface UnreadableRequest extends NodeJS.ErrnoException {
  /** What arrived last, and the place in it at which the parser stopped. */
  readonly rawPacket?: Buffer;
  readonly bytesParsed?: number;
}

/** Why a request that cannot be read is refused; `status` is what its first line says. */
interface UnreadableRefusal {
  readonly status: string;
  readonly refusal: ApiError;
}

/** The limits that a refusal names. */
interface HeadLimits {
  readonly maxHeaderSize: number;
  readonly headersTimeout: number;
}

/** A method is any token (RFC 9110 section 9.1). */
const REQUEST_LINE = /^[\w!#$%&'*+.^`|~-]+ [^ ]+ HTTP\/1\.[01]$/;

/** Whether the parser stopped in the first line of a request that has nothing wrong but an unknown method. */
function hasOtherMethod({ code, rawPacket, bytesParsed = 0 }: UnreadableRequest): boolean {
  if (code !== 'HPE_INVALID_METHOD' || !rawPacket) return false;
  const begin = bytesParsed === 0 ? 0 : rawPacket.lastIndexOf('\n', bytesParsed - 1) + 1;
  const end = rawPacket.indexOf('\r\n', begin);
  return end > begin && REQUEST_LINE.test(rawPacket.toString('latin1', begin, end));
}

/** Returns the refusal of a request that the parser of Node.js does not accept. */
export function unreadableRefusal(error: UnreadableRequest, limits: HeadLimits): UnreadableRefusal {
  const bad = (status: string, description: string) => ({ status, refusal: new ApiError('bad_request', description) });
  switch (error.code) {
    case 'HPE_INVALID_URL':
      return bad(
        '400 Bad Request',
        'The target of the request has a character that must be percent-encoded, as UTF-8.',
      );
    case 'HPE_HEADER_OVERFLOW':
      return bad(
        '431 Request Header Fields Too Large',
        `The target and the headers of the request must have at most ${limits.maxHeaderSize / 1024} KiB.`,
      );
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return bad(
        '408 Request Timeout',
        `The request came too slowly: its headers must arrive within ${limits.headersTimeout / 1000} seconds.`,
      );
  }
  if (!hasOtherMethod(error)) return bad('400 Bad Request', 'The request is not valid HTTP.');
  // RFC 9110 section 9.1: a method that the server does not know.
  const refusal = new ApiError(
    'not_implemented',
    'The method of the request is unknown: use one that the API reference names, in capitals.',
  );
  return { status: '501 Not Implemented', refusal };
}
