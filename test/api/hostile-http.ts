import fc from 'fast-check';
import { hostileText } from './hostile-json.js';

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
