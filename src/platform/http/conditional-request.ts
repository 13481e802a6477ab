type Headers = Readonly<Record<string, string | undefined>>;

const ENTITY_TAG = /(?:W\/)?"[^"]*"/g;
const opaque = (tag: string): string => tag.replace(/^W\//, '');

const tagsOf = (header: string): readonly string[] => header.match(ENTITY_TAG) ?? [];

/**
 * The outcome of the preconditions of a GET or HEAD (RFC 9110 section 13.2.2): `changed` is a 412, `unchanged` a 304.
 * The headers may hold a list of tags, or `*`; If-Match compares strongly, If-None-Match weakly. If-Modified-Since has no
 * effect: content that changes twice within a second has one date for both.
 * @param modifiedAtMs Unix milliseconds; without it, If-Unmodified-Since has no effect
 */
export function conditionOf(headers: Headers, etag: string, modifiedAtMs?: number): 'send' | 'unchanged' | 'changed' {
  const { 'if-match': wanted, 'if-none-match': known, 'if-unmodified-since': since } = headers;
  if (wanted === undefined && since !== undefined && modifiedAtMs !== undefined && isAfter(modifiedAtMs, since))
    return 'changed';
  if (wanted !== undefined && wanted.trim() !== '*' && (etag.startsWith('W/') || !tagsOf(wanted).includes(etag)))
    return 'changed';
  if (known === undefined) return 'send';
  return known.trim() === '*' || tagsOf(known).some((tag) => opaque(tag) === opaque(etag)) ? 'unchanged' : 'send';
}

/** In whole seconds, as dates are in headers. A header that is no date counts as absent. */
function isAfter(modifiedAtMs: number, date: string): boolean {
  return Math.floor(modifiedAtMs / 1000) * 1000 > Date.parse(date);
}

/**
 * Whether a range of the current content may be sent: without If-Range, or when it names exactly this tag (section
 * 13.1.5).
 */
export function rangeHolds(headers: Headers, etag: string): boolean {
  const { 'if-range': from } = headers;
  return from === undefined || (from.trim() === etag && !etag.startsWith('W/'));
}
