const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not reach a terminal
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]/gu;

function escaped(character: string): string {
  return Array.from({ length: character.length }, (_, at) => escapedUnit(character.charCodeAt(at))).join('');
}

const escapedUnit = (unit: number): string => `\\u${unit.toString(16).padStart(4, '0')}`;

/**
 * Returns text that is safe for a terminal: characters that move the cursor, clear the screen, change the direction of
 * writing or show nothing are escaped as in JSON. The maker of evidence chooses the names in it, and could make a refusal look different.
 */
export function visibleText(text: string): string {
  return text.replace(UNSEEN, escaped);
}

/** Returns `visibleText`, with tabs and line feeds escaped as well. */
export function visibleLine(text: string): string {
  return visibleText(text).replace(/[\t\n]/g, escaped);
}

/**
 * Returns `visibleLine`, with quotation marks and all characters outside ASCII escaped, because letters of two scripts
 * can look alike.
 */
export function asciiText(text: string): string {
  return visibleLine(text).replace(/["\u0080-\uffff]/g, escaped);
}
