// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not reach a terminal
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/**
 * Returns text that is safe for a terminal: characters that move the cursor, clear the screen or change the direction of
 * writing are escaped as in JSON. The maker of evidence chooses the names in it, and could make a refusal look different.
 */
export function visibleText(text: string): string {
  return text.replace(UNSEEN, escaped);
}

/** The same on one line. */
export function visibleLine(text: string): string {
  return visibleText(text).replace(/[\t\n]/g, escaped);
}
