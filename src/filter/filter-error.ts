/** A filter that cannot be read. */
export class FilterError extends Error {
  override readonly name = 'FilterError';
  /** Where the caller wrote it: a parameter, or a member such as `filters[0].or[1]`. */
  readonly field: string;
  /** The character that is wrong, counted from 0 in UTF-16 units; the length of the text when its end is. */
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
 * Refuses what no stored text can equal and no database can be asked for: U+0000 and lone surrogates.
 * @throws {FilterError} pointing at the character
 */
export function requirePlainText(text: string, field: string): void {
  const position = text.search(UNSTORABLE);
  if (position >= 0) throw new FilterError(field, position, 'U+0000 and lone surrogates are not understood');
}
