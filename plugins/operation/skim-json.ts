const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const SPACE = 0x20;
/** The function yields to the event loop after this many bytes. */
const TURN_BYTES = 2 * 1024 * 1024;

/** What can be seen of a JSON object without parsing its contents. */
export interface SkimmedObject {
  /** Bytes of each member's value, by the undecoded bytes of its name; for a repeated name, the last one. */
  readonly members: ReadonlyMap<string, Buffer>;
  /** Strings, commas, colons and brackets: the cost of parsing all of it. */
  readonly tokens: number;
}

/** The index of the quote that ends the string that begins before `from`; -1 if it does not end. */
function endOfString(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(QUOTE, from); at >= 0; at = bytes.indexOf(QUOTE, at + 1)) {
    let escapes = at;
    while (bytes[escapes - 1] === BACKSLASH) escapes -= 1;
    if ((at - escapes) % 2 === 0) return at;
  }
  return -1;
}

/**
 * Finds the members of a JSON object of any size without parsing it, and yields to the event loop. Undefined if it is
 * not an object. Does not check that the members' contents are valid JSON.
 */
export async function skimJson(bytes: Buffer): Promise<SkimmedObject | undefined> {
  const members = new Map<string, Buffer>();
  let tokens = 0;
  let depth = 0;
  let name: string | undefined;
  let valueFrom = 0;
  let turn = TURN_BYTES;
  const closeMember = (end: number): void => {
    if (name !== undefined) members.set(name, bytes.subarray(valueFrom, end));
    name = undefined;
  };
  for (let at = 0; at < bytes.length; at += 1) {
    if (at > turn) {
      turn = at + TURN_BYTES;
      await new Promise((resume) => setImmediate(resume));
    }
    const byte = bytes[at]!;
    if (depth === 0 && byte > SPACE && (byte !== OPEN_OBJECT || tokens > 0)) return undefined;
    if (byte === QUOTE) {
      const end = endOfString(bytes, at + 1);
      if (end < 0) return undefined;
      if (depth === 1 && name === undefined) name = bytes.toString('utf8', at + 1, end);
      tokens += 1;
      at = end;
    } else if (byte === COMMA) {
      tokens += 1;
      if (depth === 1) closeMember(at);
    } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      tokens += 1;
      depth += 1;
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      if (depth === 1) closeMember(at);
      depth -= 1;
    } else if (byte === COLON && depth === 1) {
      valueFrom = at + 1;
    }
  }
  return depth === 0 && tokens > 0 ? { members, tokens } : undefined;
}
