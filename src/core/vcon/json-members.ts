const QUOTE = 0x22;
const COLON = 0x3a;
const ESCAPE = 0x5c;
const OPENERS: readonly number[] = [0x5b, 0x7b];
const CLOSERS: readonly number[] = [0x5d, 0x7d];

/** What can be told of a text that is JSON before it is parsed. */
interface WrittenShape {
  /** Of all objects, as they are written. */
  readonly members: number;
  /** Levels of lists and objects. */
  readonly depth: number;
  /** The name of a member is written with an escape. */
  readonly hasEscapedNames: boolean;
}

/**
 * Looks at the marks of a text that is JSON. Every colon outside the strings follows the name of a member. A reader keeps one
 * member of a name that an object has twice: if `membersIn` of what it read is less, a name occurs twice.
 */
export function writtenShape(json: string): WrittenShape {
  let members = 0;
  let level = 0;
  let depth = 0;
  let hasEscapedNames = false;
  let string = { end: 0, hasEscapes: false };
  for (let place = 0; place < json.length; place += 1) {
    const code = json.charCodeAt(place);
    if (code === QUOTE) {
      string = stringFrom(json, place);
      place = string.end;
    } else if (code === COLON) {
      members += 1;
      hasEscapedNames ||= string.hasEscapes;
    } else if (code === OPENERS[0] || code === OPENERS[1]) {
      level += 1;
      if (level > depth) depth = level;
    } else if (code === CLOSERS[0] || code === CLOSERS[1]) level -= 1;
  }
  return { members, depth, hasEscapedNames };
}

/** Returns where the string ends whose opening quote is at `start`; the end of the text if the string does not end. */
export function stringFrom(json: string, start: number): { readonly end: number; readonly hasEscapes: boolean } {
  let hasEscapes = false;
  for (let place = start + 1; place < json.length; place += 1) {
    const code = json.charCodeAt(place);
    if (code === QUOTE) return { end: place, hasEscapes };
    if (code !== ESCAPE) continue;
    hasEscapes = true;
    place += 1;
  }
  return { end: json.length, hasEscapes };
}

/** Returns the number of members of all objects in a parsed value, at any depth. */
export function membersIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let members = 0;
  for (const name in value) members += membersIn((value as Record<string, unknown>)[name]) + 1;
  return Array.isArray(value) ? members - value.length : members;
}
