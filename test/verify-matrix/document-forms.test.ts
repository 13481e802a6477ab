import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { utf8 } from '../../src/core/bytes.js';
import { vconHashes } from '../../src/core/vcon/vcon-hash.js';
import { hasPythonCryptography } from '../support/prerequisites.js';
import { readFixtureFile } from '../support/read-fixture-file.js';
import { type PythonVerifier, startPythonVerifier } from './python-verifier.js';

interface Known {
  readonly name: string;
  readonly input_text: string;
}

const known = ['hashes.json', 'submitted.json'].flatMap((file) => readFixtureFile<Known[]>(`vcon/${file}`));

/** Every form that a document has, in the order in which both verifiers try them. */
function formsOf(document: string): (readonly [string, string])[] {
  const { raw, conserver, jcs } = vconHashes(utf8(document));
  const forms = [{ form: 'raw', ...raw }, ...conserver, { form: 'jcs', ...jcs }];
  return forms.flatMap(({ form, hash }) => (hash === undefined ? [] : [[form, hash] as const]));
}

/** Names and values that a conserver changes on the way. */
const leaf = fc.oneof(
  fc.constantFrom(
    '1.50',
    '1e400',
    '-0',
    '-0.0',
    '18446744073709551615',
    '18446744073709551616',
    '33.1000000000000001',
    '1E2',
    '12345678901234567890123',
    '5e-324',
    'null',
    'true',
    '"0.4.0"',
    '"json"',
    '"\\ud800"',
    '"a\\u00e9\\u2028<"',
    '[]',
    '{}',
  ),
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
  fc.string({ unit: 'binary' }).map((value) => JSON.stringify(value)),
);
const NAMES = [
  'body',
  'encoding',
  'type',
  'purpose',
  'mimetype',
  'mediatype',
  'must_support',
  'critical',
  'schema_version',
  'schema',
  'tel',
  'duration',
  'start',
  'parties',
  'url',
  'alg',
  'other',
];
const object = (names: fc.Arbitrary<string>, value: fc.Arbitrary<string>) =>
  fc
    .array(fc.tuple(names, value), { maxLength: 5 })
    .map((members) => `{${members.map(([name, each]) => `"${name}":${each}`).join(', ')}}`);
const entry = object(fc.constantFrom(...NAMES), leaf);
const list = fc.array(fc.oneof(entry, leaf), { maxLength: 2 }).map((members) => `[${members.join(',')}]`);
const member = fc.oneof(
  fc.tuple(fc.constantFrom('parties', 'dialog', 'analysis', 'attachments'), list),
  fc.tuple(
    fc.constantFrom('redacted', 'group', 'subject', 'appended', 'amended', 'must_support', 'critical', 'vcon', 'extra'),
    fc.oneof(leaf, entry, list),
  ),
  fc.tuple(
    fc.constant('created_at'),
    fc.constantFrom('"2024-05-07T16:33:29.500Z"', '"2024-05-07t16:33:29-00:00"', '"2024-05-07 16:33:29.1234567+05:30"'),
  ),
);
const vcon = fc.array(member, { maxLength: 6 }).map((members) => {
  const always = [
    '"vcon": "0.4.0"',
    '"uuid": "018D0000-0000-8000-8000-00000000b001"',
    '"created_at": "2024-05-07T16:33:29Z"',
  ];
  return `{${[...always.slice(0, 3 - (members.length % 3)), ...members.map(([name, value]) => `"${name}": ${value}`)].join(', ')}}`;
});

describe.runIf(hasPythonCryptography)('both verifiers know the same forms of a document', () => {
  let python: PythonVerifier;
  beforeAll(() => {
    python = startPythonVerifier();
  });
  afterAll(() => python.close());

  it.each(known)('$name', async ({ input_text: document }) => {
    expect(await python.formsOf(document)).toEqual(formsOf(document));
  });

  it('of random vCons with members that a conserver renames, drops or overwrites', async () => {
    await fc.assert(
      fc.asyncProperty(vcon, async (document) => {
        expect(await python.formsOf(document)).toEqual(formsOf(document));
      }),
      { numRuns: 1000 },
    );
  });
});
