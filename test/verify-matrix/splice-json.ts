import { utf8 } from '../../src/core/bytes.js';
import type { Splice } from './splice-cbor.js';

/** A JSON value that can be written with a name twice. */
type Node =
  | { readonly kind: 'object'; members: (readonly [name: string, value: Node])[] }
  | { readonly kind: 'list'; members: (readonly [name: string, value: Node])[] }
  | { readonly kind: 'scalar'; readonly text: string };

function nodeOf(value: unknown): Node {
  if (Array.isArray(value))
    return { kind: 'list', members: value.map((each, at) => [String(at), nodeOf(each)] as const) };
  if (typeof value === 'object' && value !== null)
    return { kind: 'object', members: Object.entries(value).map(([name, each]) => [name, nodeOf(each)] as const) };
  return { kind: 'scalar', text: ascii(JSON.stringify(value)) };
}

function ascii(text: string): string {
  return text.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** As Python writes it: a document that is not changed keeps its digest. */
function textOf(node: Node): string {
  if (node.kind === 'scalar') return node.text;
  if (node.kind === 'list') return `[${node.members.map(([, each]) => textOf(each)).join(', ')}]`;
  return `{${node.members.map(([name, each]) => `${ascii(JSON.stringify(name))}: ${textOf(each)}`).join(', ')}}`;
}

function placesOf(node: Node, path: readonly number[] = [], member: readonly string[] = []) {
  if (node.kind === 'scalar') return [];
  return node.members.flatMap(([name, value], place): { path: number[]; member: string[] }[] => [
    { path: [...path, place], member: [...member, name] },
    ...placesOf(value, [...path, place], [...member, name]),
  ]);
}

function holderAt(root: Node, path: readonly number[]): Exclude<Node, { kind: 'scalar' }> {
  let node = root;
  for (const place of path.slice(0, -1)) node = (node as Exclude<Node, { kind: 'scalar' }>).members[place]![1];
  return node as Exclude<Node, { kind: 'scalar' }>;
}

function memberAt(root: unknown, member: readonly string[]): unknown {
  let value = root;
  for (const name of member) value = (value as Record<string, unknown> | null | undefined)?.[name];
  return value;
}

const read = (bytes: Uint8Array): unknown => JSON.parse(new TextDecoder().decode(bytes));

/**
 * Every member of a JSON document removed, doubled (as it is, and with a first value that another reader would take), made
 * null, and replaced by the same member of each donor.
 */
export function* spliceJson(bytes: Uint8Array, donors: readonly (readonly [string, Uint8Array])[]): Generator<Splice> {
  const root = nodeOf(read(bytes));
  const others = donors.map(([name, donor]) => [name, read(donor)] as const);
  for (const { path, member } of placesOf(root)) {
    const place = path.at(-1)!;
    const changed = (change: string, work: (members: (readonly [string, Node])[]) => void): Splice => {
      const copy = structuredClone(root);
      work(holderAt(copy, path).members);
      return { member, change, bytes: utf8(textOf(copy)) };
    };
    const [name, value] = holderAt(root, path).members[place]!;
    yield changed('removed', (members) => members.splice(place, 1));
    yield changed('doubled', (members) => members.splice(place, 0, [name, value]));
    yield changed('twice', (members) => members.splice(place, 0, [name, { kind: 'scalar', text: '"twice"' }]));
    yield changed('null', (members) => (members[place] = [name, { kind: 'scalar', text: 'null' }]));
    for (const [donorName, donor] of others) {
      const other = memberAt(donor, member);
      if (other === undefined || textOf(nodeOf(other)) === textOf(value)) continue;
      yield changed(`of ${donorName}`, (members) => (members[place] = [name, nodeOf(other)]));
    }
  }
}
