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

export const hostileText = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...TEXTS) },
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

/** Segments to stand in the place of an id, percent-encoded or not encodable at all. */
export const hostileSegment = fc.oneof(
  fc.constantFrom(
    '%00',
    '%',
    '%zz',
    '%ff',
    '%c0%80',
    '..',
    '%2e%2e',
    '%2f',
    '-',
    '*',
    ':publicurl',
    'a:b',
    '__proto__',
    'constructor',
    '{}',
    '[]',
    '%e2%80%ae',
    '%F0%9F%92%A9',
    'x'.repeat(9000),
    '00000000-0000-0000-0000-000000000000',
    'ABCDEFAB-0000-4000-8000-00000000ABCD',
    '00000000-0000-4000-8000-0000000000000',
    '9'.repeat(400),
    '0000000000000001.log',
    '0000000000000000.log',
    '9999999999999999.sth',
    ';a=b',
    '%3Fx',
    '%0d%0aset-cookie:a',
    '',
  ),
  hostileText.map((text) => encoded(text)),
);

const NAMES = [
  'page_size',
  'page_token',
  'at_time',
  'form',
  'tracked',
  'confirmation_status',
  'minimum_trust',
  'order_by',
  'proof_mechanism',
  'timestamp_accepted_since',
  'timestamp_accepted_before',
  'principal_declared.issuer',
  'principal_declared.subject',
  'principal_accepted.issuer',
  'attributes.arc_display_type',
  'attributes.',
  'attributes',
  'event_attributes.a.b',
  'event_attributes.__proto__',
  'asset_attributes.x',
  'display_name',
  'compliant_at',
  'interface',
  'strict',
  'allow_insecure',
  'content_only',
  '__proto__',
  'a[b]',
  'constructor',
];
/** Names that take any value. */
const FILTERS = [
  'attributes.arc_display_type',
  'event_attributes.arc_display_type',
  'event_attributes.a.b',
  'asset_attributes.x',
];
const VALUES = [
  '%00',
  '%',
  '%ff',
  '%ed%a0%80',
  'SIMPLEHASHV1',
  'SIMPLEHASHV2',
  'MERKLE_LOG',
  'CONFIRMED',
  'TRACKED',
  'draft',
  '1',
  '1001',
  '*',
];

/** A query pair as text: `name=value`, `name!=*`, or a name alone. */
export const hostilePair = fc
  .record({
    name: fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...NAMES) },
      { weight: 6, arbitrary: fc.constantFrom(...FILTERS) },
      { weight: 1, arbitrary: hostileText.map(encoded) },
    ),
    sign: fc.constantFrom('=', '=', '=', '!=', ''),
    value: fc.oneof(fc.constantFrom(...VALUES), hostileText.map(encoded)),
  })
  .map(({ name, sign, value }) => (sign === '' ? name : `${name}${sign}${value}`));

/** A lone surrogate becomes the replacement character: the plain texts that cannot be encoded stand in the lists. */
function encoded(text: string): string {
  return encodeURIComponent(Buffer.from(text, 'utf8').toString('utf8'));
}

const headerText = fc.oneof(
  fc.constantFrom(
    '',
    'x',
    '"x"',
    '*',
    'W/"',
    'x'.repeat(3000),
    '\u00ff\u00fe',
    '__proto__',
    'ünïcode',
    '0',
    '%00',
    '\t',
  ),
  fc.string({
    unit: fc
      .integer({ min: 0x20, max: 0xff })
      .filter((code) => code !== 0x7f)
      .map((code) => String.fromCharCode(code)),
    maxLength: 30,
  }),
);
const ranges = fc.oneof(
  fc.constantFrom(
    'bytes=0-0',
    'bytes=-1',
    'bytes=-0',
    'bytes=5-2',
    'bytes=0-',
    'bytes=999999999999999-',
    'bytes=99999999999999999999-',
    'bytes=0-1,2-3',
    'bytes=',
    'items=0-1',
    'bytes=-',
    'bytes=a-b',
  ),
  headerText,
);
const types = fc.constantFrom(
  'text/plain',
  'application/json; charset=utf-16',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'multipart/form-data; boundary=',
  'multipart/form-data; boundary=x',
  `multipart/form-data; boundary=${'x'.repeat(300)}`,
  'application/cbor',
  '',
  '/',
  'application/json, text/html',
);

/** One header line more, or in the place of the one that the request has. */
export const hostileHeader: fc.Arbitrary<readonly [name: string, value: string]> = fc.oneof(
  fc.tuple(fc.constantFrom('range', 'x-ms-range', 'if-range'), ranges),
  fc.tuple(
    fc.constantFrom(
      'if-none-match',
      'if-match',
      'if-modified-since',
      'x-request-total-count',
      'accept',
      'accept-encoding',
      'x-forwarded-for',
      'x-forwarded-proto',
      'cookie',
      'expect',
      'x-http-method-override',
      'host',
    ),
    headerText,
  ),
  fc.tuple(fc.constant('idempotency-key'), fc.oneof(fc.constantFrom('k1', 'k2', 'k1'), headerText)),
  fc.tuple(fc.constant('content-type'), types),
  fc.tuple(fc.constant('content-encoding'), fc.constantFrom('gzip', 'br', 'identity', 'deflate, gzip', '')),
  fc.tuple(
    fc.constant('authorization'),
    fc.oneof(
      fc.constantFrom(
        'Bearer',
        'Basic Og==',
        'Basic /////w==',
        'Basic',
        'Bearer a.b.c',
        `Bearer ${'a'.repeat(9000)}`,
        'Bearer eyJhbGciOiJub25lIn0.e30.',
      ),
      headerText,
    ),
  ),
);
