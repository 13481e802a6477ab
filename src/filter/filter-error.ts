/** A filter that cannot be parsed. */
export class FilterError extends Error {
  override readonly name = 'FilterError';
  /** Where the error is: a parameter, or a member such as `filters[0].or[1]`. */
  readonly field: string;
  /** Position of the error, counted from 0 in UTF-16 units; the length of the text if it ends too early. */
  readonly position: number;
  readonly reason: string;

  constructor(field: string, position: number, reason: string) {
    super(`${field}: ${reason} at character ${position + 1}`);
    this.field = field;
    this.position = position;
    this.reason = reason;
  }
}

const UNSTORABLE = /\0|\p{Surrogate}/u;

/**
 * Refuses U+0000 and lone surrogates, which no stored text can contain and PostgreSQL does not accept.
 * @throws {FilterError} pointing at the character
 */
export function requirePlainText(text: string, field: string): void {
  const position = text.search(UNSTORABLE);
  if (position >= 0) throw new FilterError(field, position, 'U+0000 and lone surrogates are not accepted');
}
