/** Every refusal that a caller can see, with its HTTP status. The service returns no other errors. */
const STATUS = {
  bad_request: 400,
  unauthorized: 401,
  quota_reached: 402,
  forbidden: 403,
  not_found: 404,
  not_ready: 404,
  method_not_allowed: 405,
  conflict: 409,
  gone: 410,
  payload_too_large: 413,
  unsupported_media_type: 415,
  expectation_failed: 417,
  unprocessable: 422,
  rate_limited: 429,
  internal: 500,
  not_implemented: 501,
  unavailable: 503,
  disk_full: 507,
} as const;

export type ErrorCode = keyof typeof STATUS;

export const ERROR_CODES = Object.keys(STATUS) as readonly ErrorCode[];

/** A refusal with this code asks for a token, unless it has a challenge of its own (RFC 9110 section 11.6.1). */
const CHALLENGES: Partial<Record<ErrorCode, Readonly<Record<string, string>>>> = {
  unauthorized: { 'www-authenticate': 'Bearer' },
};

/** A refusal that is sent to the caller: `{"error": code, "description": description}` with the code's status. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly description: string;
  readonly headers: Readonly<Record<string, string>>;

  /** @param headers response headers, names in lower case */
  constructor(code: ErrorCode, description: string, headers: Readonly<Record<string, string>> = {}) {
    super(description);
    this.code = code;
    this.status = STATUS[code];
    this.description = description;
    this.headers = { ...CHALLENGES[code], ...headers };
  }
}

/** The refusal of a token that is not valid. Without a token, the challenge has no error (RFC 6750 section 3). */
export function invalidToken(description: string): ApiError {
  return new ApiError('unauthorized', description, { 'www-authenticate': 'Bearer error="invalid_token"' });
}

/** A temporary refusal, with the headers of `retryHeaders`. */
export function retryLater(
  code: 'rate_limited' | 'unavailable',
  description: string,
  seconds: number,
  headers: Readonly<Record<string, string>> = {},
): ApiError {
  return new ApiError(code, description, { ...headers, ...retryHeaders(seconds) });
}

/**
 * When to retry, in two headers: clients of the interface read `Archivist-Rate-Limit-Reset`, where fractions of a second
 * are allowed; others read `Retry-After` (docs/design/interface.md#existing-clients).
 */
export function retryHeaders(seconds: number): Readonly<Record<string, string>> {
  // Zero would tell those clients not to retry.
  const milliseconds = Math.max(1, Math.ceil(seconds * 1000));
  return {
    'retry-after': String(Math.ceil(milliseconds / 1000)),
    'archivist-rate-limit-reset': String(milliseconds / 1000),
  };
}
