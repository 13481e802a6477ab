/**
 * Headers that readers of public resources send; for log files, those of the Azure clients that they were written for.
 * Clients of the original name themselves in `DataTrails-*`, which we do not read.
 */
const PUBLIC_HEADERS =
  'datatrails-partner-id, datatrails-user-agent, if-match, if-none-match, if-range, range, x-ms-client-request-id, x-ms-date, x-ms-range, x-ms-version, x-request-total-count';
const TOKEN_HEADERS = `authorization, content-type, idempotency-key, archivist-tenancy, prefer, ${PUBLIC_HEADERS}`;
const EXPOSED =
  'etag, location, retry-after, content-range, content-disposition, x-total-count, x-ignored-members, ratelimit, ratelimit-policy, archivist-rate-limit-reset';
const A_DAY = '86400';

type Headers = Readonly<Record<string, string>>;

/** Headers that let a page of any origin read the refusal of a public resource. */
export const OPEN_HEADERS: Headers = { 'access-control-allow-origin': '*', 'access-control-expose-headers': EXPOSED };

/** The answer to a preflight request (Fetch standard, CORS protocol); no headers if the origin is not allowed. */
export function preflightHeaders(
  resource: { readonly open: boolean; readonly allow: string },
  origin: string | undefined,
  origins: readonly string[],
): Headers {
  const vary: Headers = origins.length > 0 ? { vary: 'origin' } : {};
  const allowed = { 'access-control-allow-methods': resource.allow, 'access-control-max-age': A_DAY, ...vary };
  // Also for what is public: a client that has a token sends it with every request.
  if (origin !== undefined && origins.includes(origin))
    return { ...allowed, 'access-control-allow-origin': origin, 'access-control-allow-headers': TOKEN_HEADERS };
  if (!resource.open) return vary;
  return { ...allowed, 'access-control-allow-origin': '*', 'access-control-allow-headers': PUBLIC_HEADERS };
}

/** Lets a page of a configured origin read a response to a caller with a token. Cookies are never allowed. */
export function crossOriginHeaders(origin: string | undefined, origins: readonly string[]): Headers {
  if (origins.length === 0) return {};
  if (origin === undefined || !origins.includes(origin)) return { vary: 'origin' };
  return { 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED, vary: 'origin' };
}
