/**
 * Returns a text without the repetitions of a character at its end, in one step for each of them. A regular expression such
 * as `=+$` looks at every run of the character anew from each of its places: a long run that is not the last thing in a
 * hostile text would hold a program up for hours.
 * @param character one UTF-16 unit
 */
export function withoutTrailing(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end -= 1;
  return text.slice(0, end);
}
