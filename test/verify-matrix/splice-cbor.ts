import { type Item, simpleItem, wholeItem, writeItem } from '../core/verify/cbor-items.js';

/** A changed piece of evidence: which member, and how. */
export interface Splice {
  /** From the outermost to the changed one: map keys, list places, `inner` for the content of a byte string. */
  readonly member: readonly string[];
  readonly change: string;
  readonly bytes: Uint8Array;
}

/** A place in a list, or the value of a map's entry. */
interface Slot {
  /** From the root to the holder: places in `members`, or `inner`. */
  readonly holder: readonly (number | 'inner')[];
  readonly place: number;
  readonly member: readonly string[];
}

const LIST = 4;
const MAP = 5;
const NULL = 22n;

function keyText({ major, value, content }: Item): string {
  return major === 0 ? String(value) : major === 1 ? String(-1n - value) : new TextDecoder().decode(content);
}

function slotsOf(item: Item, holder: Slot['holder'] = [], member: readonly string[] = []): Slot[] {
  const own: Slot[] = [];
  const inside: Slot[] = [];
  const step = item.major === MAP ? 2 : 1;
  for (let at = 0; at < item.members.length; at += step) {
    const place = at + step - 1;
    const name = [...member, item.major === MAP ? keyText(item.members[at]!) : String(at)];
    // The one item in a tag cannot be taken away without the tag: the whole is another part then.
    if (item.major === LIST || item.major === MAP) own.push({ holder, place, member: name });
    inside.push(...slotsOf(item.members[place]!, [...holder, place], name));
  }
  const inner = item.inner ? slotsOf(item.inner, [...holder, 'inner'], [...member, 'inner']) : [];
  return [...own, ...inside, ...inner];
}

function itemAt(root: Item, path: Slot['holder']): Item | undefined {
  let item: Item | undefined = root;
  for (const step of path) item = step === 'inner' ? item?.inner : item?.members[step];
  return item;
}

const same = (one: Uint8Array, other: Uint8Array) => Buffer.compare(one, other) === 0;

/** The same member of another message, found by its names: maps of two messages may differ in order. */
function counterpart(root: Item, member: readonly string[]): Item | undefined {
  const slot = slotsOf(root).find((each) => each.member.join('\0') === member.join('\0'));
  return slot && itemAt(root, [...slot.holder, slot.place]);
}

/**
 * Every item of a CBOR message (also inside its byte strings) removed, doubled, made null, and replaced by the same item of
 * each donor.
 */
export function* spliceCbor(bytes: Uint8Array, donors: readonly (readonly [string, Uint8Array])[]): Generator<Splice> {
  const root = wholeItem(bytes)!;
  const others = donors.flatMap(([name, donor]) => {
    const item = wholeItem(donor);
    return item ? [[name, item] as const] : [];
  });
  for (const { holder, place, member } of slotsOf(root)) {
    const changed = (change: string, work: (of: Item) => void): Splice => {
      const copy = structuredClone(root);
      work(itemAt(copy, holder)!);
      return { member, change, bytes: writeItem(copy) };
    };
    const width = itemAt(root, holder)!.major === MAP ? 2 : 1;
    const first = place + 1 - width;
    yield changed('removed', (of) => of.members.splice(first, width));
    yield changed('doubled', (of) => of.members.splice(first, 0, ...of.members.slice(first, first + width)));
    yield changed('null', (of) => (of.members[place] = simpleItem(NULL)));
    const before = writeItem(itemAt(root, [...holder, place])!);
    for (const [name, donor] of others) {
      const other = counterpart(donor, member);
      if (!other || same(writeItem(other), before)) continue;
      yield changed(`of ${name}`, (of) => (of.members[place] = structuredClone(other)));
    }
  }
}

/** The message with a text of a map replaced by another one, such as the event that a statement carries. */
export function withText(bytes: Uint8Array, path: Slot['holder'], text: Uint8Array): Uint8Array {
  const root = wholeItem(bytes)!;
  itemAt(root, path)!.content = text;
  return writeItem(root);
}

/** Where the text under a name lies in the unprotected header of a COSE_Sign1. */
export function unprotectedText(bytes: Uint8Array, name: string): Slot['holder'] | undefined {
  const root = wholeItem(bytes)!;
  const slot = slotsOf(root).find(({ member }) => member[1] === '1' && member[2] === name && member.length === 3);
  return slot && [...slot.holder, slot.place];
}
