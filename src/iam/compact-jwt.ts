/** Header, payload and signature in base64url, without padding (RFC 7515, sections 2 and 3.1). */
const COMPACT = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/**
 * Checks that a token has only the characters of a signed JWT. `jose` ignores padding and white space, so that one token
 * would have any number of spellings.
 * @throws {Error}
 */
export function requireCompact(token: string): void {
  if (!COMPACT.test(token)) throw new Error('not a signed JWT in compact form');
}
