import fc from 'fast-check';

/** Stands for text that no JSON writer would write; `spliced` puts the text in its place. */
const RAW = '\u{e000}';
const RAW_TEXTS = [
  '1e999',
  '-0',
  `1${'0'.repeat(400)}`,
  '0.1e-400',
  'NaN',
  '{"__proto__":{"polluted":"yes"}}',
  '{"\\u005f_proto__":{"polluted":"yes"}}',
  '{"constructor":{"prototype":{"polluted":"yes"}}}',
  '{"a":"1","a":"2"}',
  `${'['.repeat(60)}${']'.repeat(60)}`,
  `${'['.repeat(5000)}${']'.repeat(5000)}`,
  `${'{"a":'.repeat(50)}"x"${'}'.repeat(50)}`,
  '"\\ud800"',
  '"\\u0000"',
  '"\ufeff"',
];

const TEXTS = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\ud800',
  'ü\u0301\u202e\u{1f4a9}',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  "'; DROP TABLE assets; --",
  '%',
  '\\',
  '{}',
  '[]',
  'null',
  '*',
  '-',
  '0',
  '-1',
  '1e309',
  '9'.repeat(30),
  'x'.repeat(3000),
  'true',
  '2026-11-20T10:00:00Z',
  '2026-02-30T25:61:61Z',
  '0000-01-01T00:00:00Z',
  '-271821-04-20T00:00:00.000Z',
  '+275760-09-13T00:00:00.001Z',
  '9999-12-31T23:59:59.999999999+23:59',
  '00000000-0000-0000-0000-000000000000',
  'assets/00000000-0000-4000-8000-000000000000',
  'blobs/00000000-0000-4000-8000-000000000000',
  'arc_attachment',
  'attributes.arc_display_type=Call',
  'attributes.a.b.c!=*',
  "trails/any(t: t eq 'calls')",
  `${'('.repeat(300)}event_type eq 'a'${')'.repeat(300)}`,
  'not '.repeat(400) + "event_type eq 'a'",
  "event_type eq 'a' or ".repeat(400) + "event_type eq 'a'",
  'ledger_entry/index gt 99999999999999999999',
];

const TOKENS = [
  'event_type',
  'origin_tenant',
  'created_by',
  'created_at',
  'ledger_entry/index',
  'ledger_entry/idtimestamp',
  'trails',
  'eq',
  'ne',
  'gt',
  'ge',
  'lt',
  'le',
  'and',
  'or',
  'not',
  '(',
  ')',
  "'calls'",
  "''",
  "'",
  "'a''b'",
  '1',
  '-1',
  '1.5e400',
  '18446744073709551616',
  'null',
  'true',
  '2026-11-20T10:00:00Z',
  '0000-00-00T00:00:00Z',
  'trails/any(t: t eq',
  'any',
  '/',
  ':',
  '\u0000',
  '\ud800',
];
const COMPARISONS = ['=', '!=', '>', '<', '>=', '<=', '=*', '!=*', '= ', '=='];
const OPERANDS = [
  'attributes.x',
  'attributes.a.b',
  'attributes.',
  'x',
  'attributes.__proto__',
  'attributes.arc_display_type',
];

/** Nearly filters: of an event search, and of policies. */
const filterText = fc.oneof(
  fc.array(fc.constantFrom(...TOKENS), { maxLength: 12 }).map((tokens) => tokens.join(' ')),
  fc
    .tuple(fc.constantFrom(...OPERANDS), fc.constantFrom(...COMPARISONS), fc.constantFrom(...TEXTS))
    .map((parts) => parts.join('')),
);

export const hostileText = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...TEXTS) },
  { weight: 2, arbitrary: filterText },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
);

const rawText = fc.constantFrom(...RAW_TEXTS.keys()).map((place) => `${RAW}${place}${RAW}`);
const attachment = fc.record(
  {
    arc_attribute_type: fc.oneof(fc.constant('arc_attachment'), hostileText),
    arc_blob_identity: hostileText,
    arc_blob_hash_alg: fc.oneof(fc.constant('SHA256'), hostileText),
    arc_blob_hash_value: hostileText,
  },
  { requiredKeys: [] },
);
export const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: hostileText },
  { weight: 3, arbitrary: rawText },
  { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  { weight: 1, arbitrary: fc.constantFrom(null, true, 0, -1, 1.5, 2 ** 53, 1e21, Number.MAX_VALUE, [], {}, [[]]) },
  { weight: 1, arbitrary: attachment },
  { weight: 1, arbitrary: fc.array(hostileText, { maxLength: 80 }) },
  { weight: 1, arbitrary: fc.array(fc.record({ or: fc.array(hostileText, { maxLength: 4 }) }), { maxLength: 4 }) },
  { weight: 1, arbitrary: fc.dictionary(hostileText, hostileText, { maxKeys: 5 }) },
);

/** One change of one place in a JSON value; places are counted over the whole value and wrap around. */
export const mutation = fc.record({
  place: fc.nat(40),
  kind: fc.constantFrom('replace', 'remove', 'add', 'wrap', 'replace', 'add'),
  name: hostileText,
  // A text is what most places take, so that it goes deeper than the schema.
  value: fc.oneof(hostileText, hostileValue),
});
export type Mutation = typeof mutation extends fc.Arbitrary<infer Value> ? Value : never;

/** The value as JSON text after the changes; what it became need not be JSON any more. */
export function mutated(value: unknown, mutations: readonly Mutation[]): string {
  const changed = mutations.reduce(change, value);
  return spliced(JSON.stringify(changed) ?? '');
}

function change(value: unknown, mutation: Mutation): unknown {
  const holder = { value: structuredClone(value) } as Record<string, unknown>;
  const places: [parent: Record<string, unknown>, key: string][] = [];
  visit(holder, places);
  const [parent, key] = places[mutation.place % places.length]!;
  if (mutation.kind === 'remove') delete parent[key];
  else if (mutation.kind === 'wrap')
    parent[key] = mutation.name === '' ? [parent[key]] : named(mutation.name, parent[key]);
  else if (mutation.kind === 'add' && typeof parent[key] === 'object' && parent[key] !== null)
    parent[key] = { ...parent[key], ...named(mutation.name, mutation.value) };
  else parent[key] = mutation.value;
  return holder['value'];
}

function named(name: string, value: unknown): Record<string, unknown> {
  return Object.fromEntries([[name, value]]);
}

function visit(parent: Record<string, unknown>, places: [Record<string, unknown>, string][]): void {
  for (const key of Object.keys(parent)) {
    places.push([parent, key]);
    const child = parent[key];
    if (typeof child === 'object' && child !== null) visit(child as Record<string, unknown>, places);
  }
}

function spliced(json: string): string {
  return json.replaceAll(new RegExp(`"${RAW}(\\d+)${RAW}"`, 'gu'), (_, place: string) => RAW_TEXTS[Number(place)]!);
}

/** Damage to the bytes of a body. */
export const damage = fc.record({
  kind: fc.constantFrom('none', 'none', 'none', 'none', 'none', 'none', 'flip', 'cut', 'insert', 'prefix'),
  place: fc.nat(1000),
  bytes: fc.oneof(
    fc.uint8Array({ minLength: 1, maxLength: 4 }),
    fc.constantFrom(
      new Uint8Array([0xff, 0xfe]),
      new Uint8Array([0xc0, 0x80]),
      new Uint8Array([0xed, 0xa0, 0x80]),
      new Uint8Array([0]),
    ),
  ),
});
export type Damage = typeof damage extends fc.Arbitrary<infer Value> ? Value : never;

export function damaged(body: Buffer, { kind, place, bytes }: Damage): Buffer {
  const at = body.length === 0 ? 0 : place % body.length;
  if (kind === 'cut') return body.subarray(0, at);
  if (kind === 'prefix') return Buffer.concat([bytes, body]);
  if (kind === 'insert') return Buffer.concat([body.subarray(0, at), bytes, body.subarray(at)]);
  if (kind !== 'flip' || body.length === 0) return body;
  const flipped = Buffer.from(body);
  flipped[at]! ^= 1 << (bytes[0]! % 8);
  return flipped;
}
