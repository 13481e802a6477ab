/**
 * Checks that a token is header, payload and signature in base64url without padding, each in the one spelling of its
 * bytes (RFC 7515, sections 2 and 3.1). `jose` ignores padding, white space and the bits that the last character does not
 * need, so that one token would have any number of spellings.
 * @throws {Error}
 */
export function requireCompact(token: string): void {
  const parts = token.split('.');
  if (parts.length !== 3 || !parts.every(isBase64url)) throw new Error('not a signed JWT in compact form');
}

function isBase64url(text: string): boolean {
  return text !== '' && Buffer.from(text, 'base64url').toString('base64url') === text;
}
