/** A state of PostgreSQL's hash (`hash_bytes_extended` of hashfn.c, Bob Jenkins' lookup3): three words of 32 bits. */
type State = Record<'a' | 'b' | 'c', number>;
type Word = keyof State;

const MIX: readonly [Word, Word, Word, number][] = [
  ['a', 'c', 'b', 4],
  ['b', 'a', 'c', 6],
  ['c', 'b', 'a', 8],
  ['a', 'c', 'b', 16],
  ['b', 'a', 'c', 19],
  ['c', 'b', 'a', 4],
];
const FINAL: readonly [Word, Word, number][] = [
  ['c', 'b', 14],
  ['a', 'c', 11],
  ['b', 'a', 25],
  ['c', 'b', 16],
  ['a', 'c', 4],
  ['b', 'a', 14],
  ['c', 'b', 24],
];
const BYTES = 12;

const rotated = (word: number, by: number) => ((word << by) | (word >>> (32 - by))) >>> 0;
const upper = (value: bigint) => Number((value >> 32n) & 0xffffffffn);
const lower = (value: bigint) => Number(value & 0xffffffffn);

function mixed(state: State): State {
  for (const [x, y, z, by] of MIX) {
    state[x] = ((state[x] - state[y]) ^ rotated(state[y], by)) >>> 0;
    state[y] = (state[y] + state[z]) >>> 0;
  }
  return state;
}

/** The state before a text of twelve bytes whose hash is this, and with this first word, was hashed to its end. */
function beforeHash(hash: bigint, first: number): State {
  const state = { a: first, b: upper(hash), c: lower(hash) };
  for (const [x, y, by] of FINAL.toReversed()) state[x] = (((state[x] + rotated(state[y], by)) >>> 0) ^ state[y]) >>> 0;
  for (const [x, y, z, by] of MIX.toReversed()) {
    state[y] = (state[y] - state[z]) >>> 0;
    state[x] = ((state[x] ^ rotated(state[y], by)) + state[y]) >>> 0;
  }
  return state;
}

function isPrintable(word: number): boolean {
  for (let rest = word; rest > 0; rest >>>= 8) if ((rest & 255) < 0x20 || (rest & 255) > 0x7e) return false;
  return word >= 0x20000000;
}

/** A text that `hashtextextended` gives this hash under this seed: anybody can compute one. */
export function textWithHash(hash: bigint, seed: bigint): string {
  const length = (0x9e3779b9 + BYTES + 3_923_095) >>> 0;
  const begun = mixed({ a: (length + upper(seed)) >>> 0, b: (length + lower(seed)) >>> 0, c: length });
  for (let first = 0; ; first += 1) {
    const state = beforeHash(hash, first);
    const words = (['a', 'b', 'c'] as const).map((word) => (state[word] - begun[word]) >>> 0);
    if (words.every(isPrintable)) return Buffer.from(Uint32Array.from(words).buffer).toString('latin1');
  }
}
