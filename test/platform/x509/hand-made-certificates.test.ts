import { createPublicKey } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { readCertificate } from '../../../src/platform/x509/certificate.js';
import { der, extension, oid, sampleCertificate, sequence } from '../../scitt/sample-certificate.js';

const TRUE = der(0x01, Buffer.of(0xff));
const integer = (...bytes: number[]) => der(0x02, Buffer.of(...bytes));
const UNKNOWN = oid('551d63');
const ECDSA_SHA256 = Buffer.from('2a8648ce3d040302', 'hex');

/** A certificate with this further extension, which is not critical. */
const withExtension = (made: Uint8Array) => sampleCertificate({ more: [made] }).der;
const withAlternativeName = (made: Uint8Array) => withExtension(extension(17, false, sequence(made)));
const withSubject = (...parts: Uint8Array[]) => sampleCertificate({ subjectName: sequence(...parts) }).der;
const commonName = (value: Uint8Array) => der(0x31, sequence(oid('550403'), value));
const withPurposes = (made: Uint8Array) => withExtension(extension(37, false, made));
const withKeyUsage = (made: Uint8Array) => withExtension(extension(15, false, made));
const withBasicConstraints = (...made: Uint8Array[]) =>
  sampleCertificate({ basicConstraints: extension(19, true, sequence(...made)) }).der;

/** A certificate in which some bytes, where they stand last, are others of the same length. */
function replaced(from: Uint8Array, to: Uint8Array): Uint8Array {
  const bytes = Buffer.from(sampleCertificate({ notAfter: NOT_AFTER }).der);
  bytes.set(to, bytes.lastIndexOf(from));
  return bytes;
}
const NOT_AFTER = new Date('2051-01-01T00:00:00Z');
const endingOn = (time: string) => replaced(Buffer.from('20510101000000Z'), Buffer.from(time));

/** A certificate whose key is one bit beside a point. */
function offCurve(): Uint8Array {
  const { der: made, publicKey } = sampleCertificate({});
  const bytes = Buffer.from(made);
  const key = publicKey.export({ format: 'der', type: 'spki' });
  bytes[bytes.indexOf(key) + key.length - 1]! ^= 1;
  return bytes;
}

const SERIAL = 'its serial number is not positive, or is longer than 20 bytes';
const POLICIES = 'its policies cannot be read';
/** One with the address of a statement of practice, as real authorities write it. */
const QUALIFIERS = sequence(sequence(oid('2b06010505070201'), der(0x16, Buffer.from('https://a.example/cps'))));
const root = sampleCertificate({ authority: true, subject: 'A root' });
const withSerial = (...bytes: number[]) => sampleCertificate({ issuedBy: root, serial: Buffer.of(...bytes) }).der;
const withPolicies = (made: Uint8Array) => withExtension(extension(32, true, made));

const HOST = der(0x82, Buffer.from('a.example'));
const UNREADABLE = 'it cannot be read';

/** OpenSSL reads most of these. */
const REFUSED: readonly (readonly [what: string, bytes: Uint8Array, why: string])[] = [
  [
    'an element without a length',
    withExtension(Buffer.concat([Buffer.of(0x30, 0x80), UNKNOWN, der(0x04), Buffer.of(0, 0)])),
    UNREADABLE,
  ],
  [
    'a length in more bytes than it needs',
    withExtension(Buffer.concat([Buffer.of(0x30, 0x81, 7), UNKNOWN, der(0x04)])),
    UNREADABLE,
  ],
  [
    'a length above 127 in more bytes than it needs',
    withExtension(sequence(UNKNOWN, Buffer.of(0x04, 0x82, 0, 200), Buffer.alloc(200))),
    UNREADABLE,
  ],
  ['a name whose text is in parts', withSubject(commonName(der(0x2c, der(0x0c, Buffer.from('A'))))), UNREADABLE],
  ['a name with an empty part', withSubject(der(0x31)), 'a part of one of its names is empty'],
  ['an extension whose bytes are in parts', withExtension(sequence(UNKNOWN, der(0x24, der(0x04)))), UNREADABLE],
  [
    'an extension with bytes after its end',
    withExtension(extension(37, false, Buffer.concat([sequence(oid('2a03')), Buffer.of(0)]))),
    UNREADABLE,
  ],
  [
    'version 4',
    replaced(Buffer.from('a003020102', 'hex'), Buffer.from('a003020103', 'hex')),
    'it is of an unknown version',
  ],
  ['a version below 1', replaced(Buffer.from('a003020102', 'hex'), Buffer.from('a0030201ff', 'hex')), UNREADABLE],
  [
    'another algorithm beside its signature than in what is signed',
    replaced(ECDSA_SHA256, Buffer.from('2a8648ce3d040303', 'hex')),
    'it names two algorithms for its signature',
  ],
  ['an end in the thirteenth month', endingOn('20511301000000Z'), UNREADABLE],
  ['an end in the year 49', endingOn('00490101000000Z'), UNREADABLE],
  ['an end in another zone', endingOn('2051010100+0100'), UNREADABLE],
  [
    'an end without seconds and in another zone',
    replaced(der(0x18, Buffer.from('20510101000000Z')), der(0x17, Buffer.from('4901010000+0100'))),
    UNREADABLE,
  ],
  ['an end in the year 0', endingOn('00000101000000Z'), UNREADABLE],
  [
    'basic constraints with two path lengths',
    withBasicConstraints(TRUE, integer(1), integer(2)),
    'its basic constraints cannot be read',
  ],
  ['basic constraints with a text', withBasicConstraints(TRUE, der(0x0c)), 'its basic constraints cannot be read'],
  ['a path length below zero', withBasicConstraints(TRUE, integer(0xff)), UNREADABLE],
  ['a path length of many bytes', withBasicConstraints(TRUE, integer(1, 0, 0, 0, 0, 0)), UNREADABLE],
  ['a key usage that is a number', withKeyUsage(integer(0x80)), UNREADABLE],
  ['a key usage with bits that are not part of it', withKeyUsage(der(0x03, Buffer.of(7, 0x84))), UNREADABLE],
  ['a key usage that is in parts', withKeyUsage(der(0x23, der(0x03, Buffer.of(7, 0x80)))), UNREADABLE],
  ['purposes in a set', withPurposes(der(0x31, oid('2a03'))), UNREADABLE],
  ['a purpose that is text', withPurposes(sequence(der(0x0c, Buffer.from('2.3')))), UNREADABLE],
  ['a purpose in more bytes than it needs', withPurposes(sequence(oid('2a8003'))), UNREADABLE],
  ['a purpose without a number', withPurposes(sequence(oid(''))), UNREADABLE],
  [
    'an alternative name without a tag of its kind',
    withAlternativeName(der(0x16, Buffer.from('a.example'))),
    'one of its names cannot be read',
  ],
  [
    'a mail address that is in parts',
    withAlternativeName(der(0xa1, der(0x16, Buffer.from('a@a.example')))),
    UNREADABLE,
  ],
  [
    'a directory name whose parts are no sets',
    withAlternativeName(der(0xa4, sequence(sequence(sequence(oid('550403'), der(0x0c, Buffer.from('A'))))))),
    UNREADABLE,
  ],
  [
    'permitted names that are no list',
    withExtension(extension(30, false, sequence(der(0x80, HOST), der(0xa1, sequence(HOST))))),
    UNREADABLE,
  ],
  [
    'name constraints with a distance',
    withExtension(extension(30, false, sequence(der(0xa0, sequence(HOST, der(0x80, Buffer.of(1))))))),
    'its name constraints have distances',
  ],
  ['a serial number below zero', withSerial(0x80), SERIAL],
  ['a serial number of zero that an authority gave', withSerial(0), SERIAL],
  ['a serial number of 21 bytes', withSerial(1, ...Array<number>(20).fill(0)), SERIAL],
  ['a serial number in more bytes than it needs', withSerial(0, 1), UNREADABLE],
  ['a serial number below zero in more bytes than it needs', withSerial(0xff, 0x80), UNREADABLE],
  ['policies that are text', withPolicies(der(0x0c, Buffer.from('garbage'))), UNREADABLE],
  ['policies that cannot be parsed', withPolicies(Buffer.from('garbage')), UNREADABLE],
  ['no policy', withPolicies(sequence()), POLICIES],
  ['a policy that is no list', withPolicies(sequence(oid('2a03'))), UNREADABLE],
  ['one policy twice', withPolicies(sequence(sequence(oid('2a03')), sequence(oid('2a03')))), POLICIES],
  ['a policy with an empty list of qualifiers', withPolicies(sequence(sequence(oid('2a03'), sequence()))), POLICIES],
  ['a policy with a second list', withPolicies(sequence(sequence(oid('2a03'), QUALIFIERS, QUALIFIERS))), POLICIES],
  ['a qualifier without its kind', withPolicies(sequence(sequence(oid('2a03'), sequence(sequence())))), UNREADABLE],
  ['a key whose point is not on its curve', offCurve(), 'its key cannot be read'],
];

describe('a certificate that readers could understand differently is refused', () => {
  it.each(REFUSED)('%s', (_what, bytes, why) => {
    expect(() => readCertificate(bytes)).toThrow(
      expect.objectContaining({ name: 'CertificateUnusable', message: why }),
    );
  });
});

describe('a certificate is accepted', () => {
  it.each([
    ['with a serial number of 20 bytes, whatever its first bit', withSerial(0, ...Array<number>(20).fill(0xff))],
    ['as a root with the serial number zero', sampleCertificate({ authority: true, serial: Buffer.of(0) }).der],
    ['with critical policies', withPolicies(sequence(sequence(oid('2a03')), sequence(oid('2a04'), QUALIFIERS)))],
  ])('%s', (_what, bytes) => {
    expect(readCertificate(bytes).hasAcceptedKey).toBe(true);
  });
});

describe('the key of a certificate', () => {
  it.each([
    ['Ed25519', '2b6570', 32, true],
    ['Ed448', '2b6571', 57, true],
    ['X25519', '2b656e', 32, false],
    ['X448', '2b656f', 56, false],
  ])('of the kind %s (%s, %i bytes) is accepted for signatures: %s', (_kind, id, length, accepted) => {
    const point = der(0x03, Buffer.of(0), Buffer.alloc(length, 7));
    const publicKey = createPublicKey({ key: sequence(sequence(oid(id)), point), format: 'der', type: 'spki' });
    const issuedBy = sampleCertificate({ authority: true });
    const { der: made } = sampleCertificate({ issuedBy, key: { publicKey, privateKey: issuedBy.privateKey } });
    expect(readCertificate(made).hasAcceptedKey).toBe(accepted);
  });
});
