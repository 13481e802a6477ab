import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type CborValue, encodeCbor } from '../../src/core/cose/cbor.js';
import { CborFloat } from '../../src/core/cose/cbor-float.js';
import { examineStatement } from '../../src/scitt/examine-statement.js';
import { StatementRefused } from '../../src/scitt/statement-refused.js';
import { foreignHeader, foreignStatement, withLongHeads } from './foreign-encoder.js';
import { sampleHeader, sampleIssuer, sampleStatement, tagged } from './sample-statement.js';

const issuer = sampleIssuer();
const header = encodeCbor(sampleHeader(issuer));
const payload = new Uint8Array(32);
const signature = new Uint8Array(64);
const bytes = (hex: string) => new Uint8Array(Buffer.from(hex, 'hex'));
const joined = (...parts: Uint8Array[]) => new Uint8Array(Buffer.concat(parts));
const headers = (...entries: [number, CborValue | undefined][]) => ({ headers: new Map(entries) });

/** A hash envelope under the registered label. */
const envelope = (algorithm: number, payload: Uint8Array, ...more: [number, CborValue][]) => ({
  ...headers([258, algorithm], [-6800, undefined], ...more),
  payload,
});

/** Depth as the CBOR of arrays inside each other. */
function nested(depth: number): Uint8Array {
  return joined(new Uint8Array(depth).fill(0x81), bytes('00'));
}

/** The usual header with one more, both as encoded: what a float is, our own encoder does not write. */
function withHeader(label: string, value: string): Uint8Array {
  const usual = encodeCbor(sampleHeader(issuer, headers([-6800, undefined])));
  const protectedBytes = joined(Uint8Array.of(usual[0]! + 1), usual.subarray(1), bytes(label + value));
  return sampleStatement(issuer, { protectedBytes });
}

const MALFORMED: [string, Uint8Array][] = [
  ['nothing', new Uint8Array(0)],
  ['no CBOR', new TextEncoder().encode('{"statement": "none"}')],
  ['no tag', tagged([header, new Map(), payload, signature]).subarray(1)],
  ['another tag', joined(bytes('d1'), tagged([header, new Map(), payload, signature]).subarray(1))],
  ['three parts', tagged([header, new Map(), payload])],
  ['five parts', tagged([header, new Map(), payload, signature, signature])],
  ['bytes after the end', joined(sampleStatement(issuer), bytes('00'))],
  ['cut short', sampleStatement(issuer).subarray(0, -1)],
  ['a protected header that is no byte string', tagged([new Map(), new Map(), payload, signature])],
  ['a protected header that is no map', tagged([encodeCbor([1]), new Map(), payload, signature])],
  ['an unprotected header that is no map', tagged([header, [], payload, signature])],
  ['a payload of text', tagged([header, new Map(), 'text', signature])],
  ['a signature of text', tagged([header, new Map(), payload, 'text'])],
  [
    'an indefinite length',
    joined(bytes('d29f'), tagged([header, new Map(), payload, signature]).subarray(2), bytes('ff')),
  ],
  ['a label twice', tagged([bytes('a201260126'), new Map(), payload, signature])],
  ['other claims at 13 than at 15', sampleStatement(issuer, headers([13, new Map([[1, 'https://another.example']])]))],
  ['a label in both headers', tagged([header, new Map([[4, payload]]), payload, signature])],
  ['a label twice, once longer than needed', tagged([bytes('a20126180126'), new Map(), payload, signature])],
  ['a float as a label', tagged([bytes('a1f93c0026'), new Map(), payload, signature])],
  ['a time that is not a number', tagged([bytes('a10fa106f97e00'), new Map(), payload, signature])],
  ['a hash algorithm that is a float', withHeader('391a8f', 'f9cc00')],
  ['an undefined', tagged([bytes('a101f7'), new Map(), payload, signature])],
  ['text that is not UTF-8', tagged([bytes('a1016180'), new Map(), payload, signature])],
  ['a key that is an array', tagged([bytes('a18026'), new Map(), payload, signature])],
  ['10,000 arrays inside each other', joined(bytes('d284'), nested(10_000))],
  ['a length of 2^62', bytes('d2845b4000000000000000')],
  ['more items than are read', tagged([header, new Map([['many', new Array(5_000).fill(0)]]), payload, signature])],
  ['more bytes than are read', sampleStatement(issuer, { payload: new Uint8Array(65_535) })],
  ['two hash algorithms', sampleStatement(issuer, headers([258, -43]))],
  [
    'a content type in a hash envelope',
    sampleStatement(issuer, headers([258, -16], [-6800, undefined], [3, 'text/plain'])),
  ],
  ['an unprotected hash algorithm', sampleStatement(issuer, { unprotected: new Map([[258, -16]]) })],
  ['a hash algorithm of text', sampleStatement(issuer, headers([-6800, 'SHA-256']))],
];

const REFUSED: [string, string, Uint8Array][] = [
  ['Bad Signature Algorithm', 'no algorithm', sampleStatement(issuer, headers([1, undefined]))],
  ['Bad Signature Algorithm', 'an algorithm of text', sampleStatement(issuer, headers([1, 'ES256']))],
  [
    'Bad Signature Algorithm',
    'an algorithm that is a float',
    sampleStatement(issuer, { protectedBytes: bytes('a101f9c700') }),
  ],
  ['Bad Signature Algorithm', 'HMAC 256', sampleStatement(issuer, headers([1, 5]))],
  ['Bad Signature Algorithm', 'RS256', sampleStatement(issuer, headers([1, -257]))],
  ['Bad Signature Algorithm', 'ES256K', sampleStatement(issuer, headers([1, -47]))],
  [
    'Bad Signature Algorithm',
    'an unprotected algorithm',
    sampleStatement(issuer, { ...headers([1, undefined]), unprotected: new Map([[1, -7]]) }),
  ],
  ['Rejected', 'a payload that is no digest of its hash', sampleStatement(issuer, envelope(-16, new Uint8Array(31)))],
  [
    'Rejected',
    'a payload that is a digest of another hash',
    sampleStatement(issuer, envelope(-44, new Uint8Array(32))),
  ],
  [
    'Rejected',
    'a critical hash that is not understood',
    sampleStatement(issuer, envelope(-18, new Uint8Array(16), [2, [258]])),
  ],
  ['Payload Missing', 'a detached payload', sampleStatement(issuer, { payload: null })],
  ['Payload Missing', 'an empty payload', sampleStatement(issuer, { payload: new Uint8Array(0) })],
  ['Rejected', 'no claims', sampleStatement(issuer, headers([15, undefined]))],
  ['Rejected', 'claims that are no map', sampleStatement(issuer, headers([15, 'claims']))],
  ['Rejected', 'an issuer of null', sampleStatement(issuer, { issuer: null })],
  ['Rejected', 'an empty issuer', sampleStatement(issuer, { issuer: '' })],
  ['Rejected', 'a subject of null', sampleStatement(issuer, { subject: null })],
  ['Rejected', 'a subject that is a number', sampleStatement(issuer, { subject: 7 })],
  ['Rejected', 'a subject with U+0000', sampleStatement(issuer, { subject: 'a\0b' })],
  ['Rejected', 'a subject that is too long', sampleStatement(issuer, { subject: 'x'.repeat(1_025) })],
  ['Rejected', 'a critical header that is unknown', sampleStatement(issuer, headers([2, [99]], [99, 1]))],
  ['Rejected', 'a critical header that is not there', sampleStatement(issuer, headers([2, [260]]))],
  ['Rejected', 'no critical header at all', sampleStatement(issuer, headers([2, []]))],
  ['Rejected', 'an unprotected crit', sampleStatement(issuer, { unprotected: new Map([[2, [1]]]) })],
];

function titleOf(statement: Uint8Array): string {
  try {
    examineStatement(statement);
    return 'taken';
  } catch (error) {
    if (error instanceof StatementRefused) return error.title;
    throw error;
  }
}

describe('a statement', () => {
  it.each(MALFORMED)('is a malformed request with %s', (_what, statement) => {
    expect(titleOf(statement)).toBe('Malformed request');
  });

  it.each(REFUSED)('is refused as "%s" with %s', (title, _what, statement) => {
    expect(titleOf(statement)).toBe(title);
  });

  it.each([
    ['private labels, claims at 15', {}],
    ['private labels, claims at 13', { claimsLabel: 13 }],
    ['IANA labels', headers([258, -16], [259, 'application/vcon+json'], [-6800, undefined], [-6801, undefined])],
    ['a digest of SHA-384', envelope(-43, new Uint8Array(48), [2, [258]])],
    ['a hash that is not understood and not critical', envelope(-18, new Uint8Array(16))],
    ['a location of null and a meta-map with a number', headers([-6801, null])],
    ['the same claims at 13 as at 15', headers([13, sampleHeader(issuer).get(15)])],
    ['a token at 13, which is not claims', headers([13, new Uint8Array(8)])],
    ['a countersignature beside it', { unprotected: new Map([[12, new Uint8Array(64)]]) }],
    ['a payload itself, with a content type', headers([-6800, undefined], [3, 'application/json'])],
    ['a critical header that is understood', headers([2, [4]])],
    ['a subject of 1,024 UTF-16 units', { subject: '😀'.repeat(512) }],
  ] as const)('is taken with %s', (_what, parts) => {
    const examined = examineStatement(sampleStatement(issuer, parts));
    expect([examined.issuer, examined.algorithm.name]).toEqual(['https://issuer.example', 'ES256']);
  });

  it('has at most 65,535 bytes', () => {
    const plain = headers([-6800, undefined]);
    const beside = sampleStatement(issuer, { ...plain, payload: new Uint8Array(60_000) }).length - 60_000;
    const ofBytes = (length: number) => sampleStatement(issuer, { ...plain, payload: new Uint8Array(length - beside) });
    expect([ofBytes(65_535).length, titleOf(ofBytes(65_535))]).toEqual([65_535, 'taken']);
    expect([ofBytes(65_536).length, titleOf(ofBytes(65_536))]).toEqual([65_536, 'Malformed request']);
  });

  it('is taken as other encoders write it: times with a fraction, and longer heads than needed', () => {
    const statement = foreignStatement(issuer);
    expect(Buffer.from(statement).includes(Buffer.from('b90002', 'hex'))).toBe(true);
    const { entry, read, issuer: name } = examineStatement(statement);
    const { protectedBytes, protectedHeader, signature, payload } = read.sign1;
    expect([name, protectedBytes]).toEqual(['https://issuer.example', foreignHeader(issuer)]);
    const claims = protectedHeader.get(15) as Map<number, unknown>;
    expect(claims.get(6)).toEqual(new CborFloat(1_700_821_100.25));
    // What is signed stays as it is; what is around it is always written in one way.
    expect(examineStatement(withLongHeads(protectedBytes, payload!, signature)).entry).toEqual(entry);
    expect(Buffer.from(entry).includes(Buffer.from(protectedBytes))).toBe(true);
    expect(examineStatement(entry).hash).toEqual(examineStatement(statement).hash);
  });

  it('is refused with any one byte changed, or is the same statement with another signature or payload', () => {
    const statement = sampleStatement(issuer);
    for (let place = 0; place < statement.length; place += 1) {
      const changed = statement.slice();
      changed[place] = changed[place]! ^ 0x40;
      expect(['taken', 'Malformed request', 'Bad Signature Algorithm', 'Payload Missing', 'Rejected']).toContain(
        titleOf(changed),
      );
    }
  });
});

const VECTORS = new URL('../../../shared/vectors/hash-envelope.json', import.meta.url);

describe.skipIf(!existsSync(VECTORS))('a hash envelope of the vectors', () => {
  const known = existsSync(VECTORS) ? JSON.parse(readFileSync(VECTORS, 'utf8')) : {};
  it.each(['DERIVED_final_labels', 'DERIVED_seed_private_labels'])(
    'is taken, with its issuer and subject: %s',
    (name) => {
      const { hex, payload: digest } = known[name] as { hex: string; payload: string };
      const examined = examineStatement(bytes(hex));
      expect(examined.payload).toEqual(bytes(digest));
      expect(examined.read.payloadHashAlg).toBe(-16);
    },
  );

  it('that has an undefined in its header is none', () => {
    expect(titleOf(bytes(known.transmute_example.hex))).toBe('Malformed request');
  });
});
