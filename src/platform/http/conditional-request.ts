type Headers = Readonly<Record<string, string | undefined>>;

const ENTITY_TAG = /(?:W\/)?"[^"]*"/g;
const opaque = (tag: string): string => tag.replace(/^W\//, '');

const tagsOf = (header: string): readonly string[] => header.match(ENTITY_TAG) ?? [];

/**
 * The outcome of the preconditions of a GET or HEAD (RFC 9110 section 13.2.2): `changed` is a 412, `unchanged` a 304.
 * The headers may hold a list of tags, or `*`; If-Match compares strongly, If-None-Match weakly.
 */
export function conditionOf(headers: Headers, etag: string): 'send' | 'unchanged' | 'changed' {
  const { 'if-match': wanted, 'if-none-match': known } = headers;
  if (wanted !== undefined && wanted.trim() !== '*' && (etag.startsWith('W/') || !tagsOf(wanted).includes(etag)))
    return 'changed';
  if (known === undefined) return 'send';
  return known.trim() === '*' || tagsOf(known).some((tag) => opaque(tag) === opaque(etag)) ? 'unchanged' : 'send';
}

/**
 * Whether a range of the current content may be sent: without If-Range, or when it names exactly this tag (section
 * 13.1.5).
 */
export function rangeHolds(headers: Headers, etag: string): boolean {
  const { 'if-range': from } = headers;
  return from === undefined || (from.trim() === etag && !etag.startsWith('W/'));
}
