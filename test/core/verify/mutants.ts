import { concatBytes } from '../../../src/core/bytes.js';
import { allItems, HEAD_WIDTHS, type Item, simpleItem, wholeItem, writeItem } from './cbor-items.js';

/** Numbers from 0 to below a bound, the same for the same seed. */
export type Draw = (below: number) => number;

/** mulberry32: small, and good enough to choose what to break. */
export function drawFrom(seed: number): Draw {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

const TELLING = [0n, 1n, 23n, 24n, 255n, 2n ** 31n, 2n ** 53n, 2n ** 63n, 2n ** 64n - 1n];

/** One change of the structure; donors are evidence of other logs, whose parts are put in. */
function breakItem(root: Item, donors: readonly Item[], draw: Draw): void {
  const items = allItems(root);
  const item = items[draw(items.length)]!;
  const donorItems = donors.length === 0 ? items : allItems(donors[draw(donors.length)]!);
  const donor = structuredClone(donorItems[draw(donorItems.length)]!);
  const twin = items.filter(({ major }) => major === item.major);
  const changes: (() => void)[] = [
    () => Object.assign(item, donor),
    () => Object.assign(item, structuredClone(twin[draw(twin.length)]!)),
    () => (item.value = item.major < 2 ? TELLING[draw(TELLING.length)]! : item.value),
    () => (item.value = item.major < 2 ? item.value + 1n : item.value),
    () => (item.width = HEAD_WIDTHS[1 + draw(4)]!),
    () => (item.major = item.major ^ 1),
    () => item.members.splice(draw(item.members.length + 1), item.major === 5 ? 2 : 1),
    () => item.members.push(...structuredClone(item.members.slice(-2))),
    () => item.members.reverse(),
    () => Object.assign(item, simpleItem([20n, 21n, 22n, 23n][draw(4)]!)),
    () => Object.assign(item, { major: 6, value: 18n, width: 0, members: [{ ...item }], inner: undefined }),
    () => Object.assign(item, { major: 4, value: 1n, width: 0, members: [{ ...item }], inner: undefined }),
    () => Object.assign(item, { major: 2, width: 0, members: [], content: writeItem(item), inner: undefined }),
    () => (item.content = item.content.slice(0, draw(item.content.length + 1))),
    () => (item.content = concatBytes(item.content, Uint8Array.of(draw(256)))),
    () => {
      item.inner = undefined;
      if (item.content.length > 0) item.content[draw(item.content.length)]! ^= 1 << draw(8);
    },
  ];
  changes[draw(changes.length)]!();
}

/** Evidence in CBOR with its structure changed, and now and then once more. */
export function mutatedCbor(bytes: Uint8Array, donors: readonly Uint8Array[], draw: Draw): Uint8Array {
  const root = wholeItem(bytes);
  if (!root || draw(4) === 0) return mutatedBytes(bytes, donors, draw);
  const others = donors.flatMap((each) => wholeItem(each) ?? []);
  do breakItem(root, others, draw);
  while (draw(5) === 0);
  return writeItem(root);
}

/** Bytes with bits turned, parts cut out, repeated, moved, or taken from elsewhere. */
export function mutatedBytes(bytes: Uint8Array, donors: readonly Uint8Array[], draw: Draw): Uint8Array {
  const copy = bytes.slice();
  const [at, length] = [draw(bytes.length), 1 + draw(40)];
  const donor = donors.length === 0 ? bytes : donors[draw(donors.length)]!;
  const from = draw(donor.length);
  switch (draw(7)) {
    case 0:
      return concatBytes(bytes.subarray(0, at), bytes.subarray(at + length));
    case 1:
      return concatBytes(bytes.subarray(0, at), bytes.subarray(at, at + length), bytes.subarray(at));
    case 2:
      return bytes.slice(0, at);
    case 3:
      return concatBytes(bytes, donor.subarray(from, from + length));
    case 4:
      copy.set(donor.subarray(from, from + Math.min(length, bytes.length - at)), at);
      return copy;
    default:
      copy[at]! ^= 1 << draw(8);
      return copy;
  }
}

/** A JSON text with a value or name changed, taken away, put elsewhere, or said twice. */
export function mutatedJson(text: string, draw: Draw): string {
  const value = JSON.parse(text) as unknown;
  const places: [Record<string, unknown>, string][] = [];
  const walk = (at: unknown): void => {
    if (typeof at !== 'object' || at === null) return;
    for (const name of Object.keys(at)) {
      places.push([at as Record<string, unknown>, name]);
      walk((at as Record<string, unknown>)[name]);
    }
  };
  walk(value);
  const [holder, name] = places[draw(places.length)]!;
  const [other, otherName] = places[draw(places.length)]!;
  const odd = [null, true, 0, -1, 1e300, '', ' ', [], {}, [[]], '\u0000', '\ud800', '__proto__', 'x'.repeat(9)];
  switch (draw(6)) {
    case 0:
      holder[name] = odd[draw(odd.length)];
      return JSON.stringify(value);
    case 1:
      delete holder[name];
      return JSON.stringify(value);
    case 2:
      holder[name] = structuredClone(other[otherName]);
      return JSON.stringify(value);
    case 3:
      holder[['x', `${name} `, '__proto__', otherName][draw(4)]!] = structuredClone(holder[name]);
      return JSON.stringify(value);
    case 4:
      return text.replace(`"${name}":`, `"${name}":"twice","${name}":`);
    default: {
      const at = draw(text.length);
      return `${text.slice(0, at)}${String.fromCharCode(32 + draw(95))}${text.slice(at + draw(2))}`;
    }
  }
}
