/** `word` is a name or keyword, `quoted` a text without its quotes, `bare` a value without quotes. */
export interface Token {
  readonly kind: 'word' | 'quoted' | 'bare' | '(' | ')' | ':' | 'end' | 'other';
  readonly text: string;
  readonly position: number;
}

export interface OdataScanner {
  peek(): Token;
  next(): Token;
  /**
   * The next token where a value is expected; there, letters, digits and the signs of numbers and times form one token.
   */
  nextValue(): Token;
}

const SPACE = /[ \t\r\n]*/y;
const WORD = /[A-Za-z_][\w/]*/y;
const BARE = /[\w.:+-]+/y;
// The closing quote must not be followed by another quote, so that an unclosed text is never cut short.
const QUOTED = /'((?:[^']|'')*)'(?!')/y;

/**
 * Splits a search filter into tokens, on demand.
 * @param fail called for a text that never ends; must throw
 */
export function odataScanner(text: string, fail: (position: number, reason: string) => never): OdataScanner {
  let at = 0;

  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    return pattern.exec(text);
  };

  const scan = (plain: RegExp, kind: 'word' | 'bare'): Token & { end: number } => {
    at += match(SPACE)![0].length;
    const first = text[at];
    if (first === undefined) return { kind: 'end', text: '', position: at, end: at };
    if (first === "'") {
      const quoted = match(QUOTED) ?? fail(at, 'this text has no closing quote');
      return { kind: 'quoted', text: quoted[1]!.replaceAll("''", "'"), position: at, end: at + quoted[0].length };
    }
    const found = match(plain);
    if (found) return { kind, text: found[0], position: at, end: at + found[0].length };
    const sign = first === '(' || first === ')' || first === ':' ? first : 'other';
    return { kind: sign, text: first, position: at, end: at + 1 };
  };

  const take = ({ end, ...token }: Token & { end: number }): Token => {
    at = end;
    return token;
  };

  return {
    peek: () => scan(WORD, 'word'),
    next: () => take(scan(WORD, 'word')),
    nextValue: () => take(scan(BARE, 'bare')),
  };
}
