const QUOTE = 0x22;
const COLON = 0x3a;
const ESCAPE = 0x5c;
const OPENERS: readonly number[] = [0x5b, 0x7b];
const CLOSERS: readonly number[] = [0x5d, 0x7d];

/**
 * Members of all objects in a text that is JSON, as they are written, and its levels of lists and objects. Every colon
 * outside the strings belongs to a member. A reader keeps one member of a name that an object has twice: if `membersIn`
 * of what it read is less, a name occurs twice.
 */
export function writtenShape(json: string): { readonly members: number; readonly depth: number } {
  let members = 0;
  let level = 0;
  let depth = 0;
  for (let place = 0; place < json.length; place += 1) {
    const code = json.charCodeAt(place);
    if (code === QUOTE) place = endOfString(json, place);
    else if (code === COLON) members += 1;
    else if (code === OPENERS[0] || code === OPENERS[1]) {
      level += 1;
      if (level > depth) depth = level;
    } else if (code === CLOSERS[0] || code === CLOSERS[1]) level -= 1;
  }
  return { members, depth };
}

/** @param start where the string's opening quote stands */
function endOfString(json: string, start: number): number {
  let place = start + 1;
  for (; place < json.length; place += 1) {
    const code = json.charCodeAt(place);
    if (code === QUOTE) break;
    if (code === ESCAPE) place += 1;
  }
  return place;
}

/** How many members all objects in a parsed value have. Goes as deep as the value. */
export function membersIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let members = 0;
  for (const name in value) members += membersIn((value as Record<string, unknown>)[name]) + 1;
  return Array.isArray(value) ? members - value.length : members;
}
