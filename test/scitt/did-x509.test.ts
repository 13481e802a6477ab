import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newKeyPair } from '../../src/platform/keys/new-key-pair.js';
import { readCertificate } from '../../src/platform/x509/certificate.js';
import { authorityOfIssuer } from '../../src/scitt/certificate-chain.js';
import { assertDidX509 } from '../../src/scitt/did-x509.js';
import { readFixtureFile } from '../support/read-fixture-file.js';
import {
  authority,
  type CertificateParts,
  DIGITAL_SIGNATURE,
  der,
  extension,
  nameConstraints,
  oid,
  type SampleCertificate,
  sampleCertificate,
  sequence,
} from './sample-certificate.js';
import { didX509 } from './sample-did-x509.js';

const attribute = (hex: string, text: string, tag = 0x0c) => der(0x31, sequence(oid(hex), der(tag, Buffer.from(text))));
const COMMON_NAME = '550403';
const ORGANISATION = '55040a';
const alternativeNames = (...names: Uint8Array[]) => extension(17, false, sequence(...names));
const fulcio = (value: Uint8Array) => sequence(oid('2b0601040183bf300101'), der(0x04, value));

const root = authority({ subject: 'Root' });
const middle = authority({ subject: 'Middle', issuedBy: root });
const signerKeys = newKeyPair({ type: 'ec', curve: 'P-256' });
const signer = (parts: CertificateParts = {}) =>
  sampleCertificate({ issuedBy: middle, usages: [DIGITAL_SIGNATURE], key: signerKeys, subject: 'Ann', ...parts });

/** Why the name is refused; "accepted" if it is not. */
function judged(did: string, chain: readonly SampleCertificate[], trusted: readonly SampleCertificate[]): string {
  const read = (list: readonly SampleCertificate[]) => list.map((each) => readCertificate(each.der));
  try {
    authorityOfIssuer(read(chain), read(trusted), did, Date.now());
    return 'accepted';
  } catch (error) {
    return (error as Error).message;
  }
}

interface KnownAnswers {
  readonly at: string;
  readonly chain: readonly string[];
  readonly accepted: readonly string[];
  readonly refused: readonly string[];
}

describe('a chain', () => {
  it.each([0, 9])('of %i certificates is refused', (length) => {
    const chain = Array.from({ length }, () => signer());
    expect(judged('did:x509:0:sha256:x::subject:CN:Ann', chain, [root])).toBe('a chain has 1 to 8 certificates');
  });
});

describe('a did:x509 names the holder of a certificate', () => {
  const known = readFixtureFile<KnownAnswers>('x509/did-x509.json');
  const [first, second, last] = known.chain.map((each) => readCertificate(Buffer.from(each, 'base64')));
  const judge = (did: string) => () => authorityOfIssuer([first!, second!], [last!], did, Date.parse(known.at));

  it.each(known.accepted)('by what its certificate states: %s', (did) => {
    expect(judge(did)()).toBe(0);
  });

  it.each(known.refused)('and nobody else: %s', (did) => {
    expect(judge(did)).toThrow('issuer (1)');
  });

  const hex = fc.constantFrom('toUpperCase', 'toLowerCase');
  it('by values in any percent-encoding, and by no other value', () => {
    const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 20 });
    const ascii = fc.string({
      unit: fc.integer({ min: 1, max: 126 }).map((code) => String.fromCharCode(code)),
      minLength: 1,
    });
    fc.assert(
      fc.property(text, ascii, text, hex, fc.boolean(), (name, uri, issuer, letters, whole) => {
        const more = [alternativeNames(der(0x86, Buffer.from(uri))), fulcio(Buffer.from(`https://${issuer}`))];
        const path = [signer({ subjectName: sequence(attribute(COMMON_NAME, name)), more }), root];
        const read = path.map((each) => readCertificate(each.der));
        const encoded = (value: string) =>
          [...Buffer.from(value)]
            .map((byte) => {
              const plain = String.fromCharCode(byte);
              if (!whole && /[A-Za-z0-9._-]/.test(plain)) return plain;
              return `%${byte.toString(16).padStart(2, '0')[letters]()}`;
            })
            .join('');
        const policies = (of: string, value: string, by: string) => [
          ['subject', 'CN', encoded(of)],
          ['san', 'uri', encoded(value)],
          ['fulcio-issuer', encoded(by)],
        ];
        const named = (values: readonly string[][]) => () =>
          assertDidX509(didX509(root, ...values.map((each) => each.join(':'))), read);
        expect(named(policies(name, uri, issuer))).not.toThrow();
        for (const others of [
          policies(`${name}.`, uri, issuer),
          policies(name, `${uri}.`, issuer),
          policies(name, uri, `${issuer}.`),
        ])
          expect(named(others)).toThrow('does not have the value');
      }),
      { numRuns: 30 },
    );
  });
});

describe('the fingerprint of a did:x509', () => {
  const chain = [signer(), middle];
  const named = (by: SampleCertificate, hash?: string) =>
    didX509(by, 'subject:CN:Ann').replace('sha256', hash ?? 'sha256');

  it('is of any certificate above the signer’s, also of a trusted one that the chain leaves out', () => {
    expect(judged(named(middle), chain, [root])).toBe('accepted');
    expect(judged(named(root), chain, [root])).toBe('accepted');
    expect(judged(named(root), [...chain, root], [root])).toBe('accepted');
    expect(judged(named(middle), [chain[0]!], [middle])).toBe('accepted');
  });

  it('is not of the signer’s own certificate, nor of one outside the path', () => {
    const refusal = `for the topmost authority it would be ${createHash('sha256').update(root.der).digest('base64url')}`;
    expect(judged(named(chain[0]!), chain, [root])).toMatch(refusal);
    expect(judged(named(authority({ subject: 'Root' })), chain, [root])).toMatch(refusal);
    expect(judged(named(root), chain, [middle])).toMatch('is of no certificate above');
  });

  it('leaves the constraints of authorities in force, those on directory names for the subject', () => {
    const directory = der(0xa4, sequence(attribute(ORGANISATION, 'Acme')));
    const restricted = (base: Uint8Array) =>
      authority({ subject: 'Restricted', issuedBy: root, more: [nameConstraints([base])] });
    const [hosts, names] = [restricted(der(0x82, Buffer.from('acme.example'))), restricted(directory)];
    const below = (issuedBy: SampleCertificate, host = 'a.other.example') => [
      signer({ issuedBy, more: [alternativeNames(der(0x82, Buffer.from(host)))] }),
      issuedBy,
    ];
    expect(judged(named(root), below(hosts, 'a.acme.example'), [root])).toBe('accepted');
    expect(judged(didX509(root, 'san:dns:a.other.example'), below(hosts), [root])).toMatch('may not give');
    expect(judged(named(root), below(names), [root])).toMatch('may not give');
  });

  it('does not replace trust in an authority, nor a valid path', () => {
    expect(judged(named(root), [...chain, root], [authority({ subject: 'Root' })])).toMatch('no trusted authority');
    expect(judged(named(root), [signer({ notAfter: new Date(Date.now() - 1_000) }), middle], [root])).toMatch(
      'not valid at this time',
    );
    expect(judged(named(root), [signer({ issuedBy: authority({ subject: 'Middle' }) }), middle], [root])).toMatch(
      'not signed by the next',
    );
  });
});

describe('a certificate that readers could read in several ways is named by no did:x509', () => {
  const refusal = (policy: string, parts: CertificateParts) =>
    judged(didX509(root, policy), [signer(parts), middle], [root]);

  it('if its subject repeats an attribute; another policy may still name it', () => {
    const subjectName = sequence(
      attribute(COMMON_NAME, 'Ann'),
      attribute(ORGANISATION, 'Acme'),
      attribute(ORGANISATION, 'Other'),
    );
    const more = [alternativeNames(der(0x82, Buffer.from('a.example')))];
    for (const policy of ['subject:CN:Ann', 'subject:O:Acme', 'subject:O:Other'])
      expect(refusal(policy, { subjectName, more })).toMatch('repeats an attribute of its subject');
    expect(refusal('san:dns:a.example', { subjectName, more })).toBe('accepted');
  });

  it('if the value is no text, or not in the alphabet of its kind', () => {
    const bits = sequence(der(0x31, sequence(oid(COMMON_NAME), der(0x03, Buffer.of(0, 0x41)))));
    expect(refusal('subject:CN:A', { subjectName: bits })).toMatch('does not have the value of subject:CN');
    for (const bytes of [Buffer.from('é'), Buffer.from('é', 'latin1')])
      expect(refusal('san:dns:%C3%A9', { more: [alternativeNames(der(0x82, bytes))] })).toMatch('value of san:dns');
    expect(refusal('fulcio-issuer:%EF%BF%BD', { more: [fulcio(Buffer.from('https://\xff', 'latin1'))] })).toMatch(
      'value of fulcio-issuer',
    );
    expect(refusal('fulcio-issuer:a', { more: [fulcio(der(0x0c, Buffer.from('https://a')))] })).toMatch(
      'value of fulcio',
    );
  });

  it('if its extension of Fulcio is critical', () => {
    const critical = sequence(
      oid('2b0601040183bf300101'),
      der(0x01, Buffer.of(0xff)),
      der(0x04, Buffer.from('https://a')),
    );
    expect(() => readCertificate(signer({ more: [critical] }).der)).toThrow('not understood');
  });
});

describe('a name that is no did:x509 of version 0 is refused, and told what to change', () => {
  const leaf = signer();
  const DIGEST = createHash('sha256').update(root.der).digest('base64url');
  const GOOD = `did:x509:0:sha256:${DIGEST}::subject:CN:Ann`;
  const subject = (rest: string) => `did:x509:0:sha256:${DIGEST}::subject:${rest}`;
  const policy = (rest: string) => `did:x509:0:sha256:${DIGEST}::${rest}`;
  const VALUES = 'must have values, in which all but letters';
  const KEYS = 'must be CN, L, ST, O, OU, C, STREET, or the object identifiers of others';

  it('while one of version 0 is accepted', () => {
    expect(judged(GOOD, [leaf, middle], [root])).toBe('accepted');
  });

  it.each([
    ['another version', GOOD.replace(':0:', ':1:'), 'its version must be 0'],
    ['a version with a zero before it', GOOD.replace(':0:', ':00:'), 'its version must be 0'],
    ['nothing', 'did:x509:', 'its version must be 0'],
    ['another hash', GOOD.replace('sha256', 'sha1'), 'one of sha256, sha384, sha512'],
    ['a hash in capitals', GOOD.replace('sha256', 'SHA256'), 'one of sha256, sha384, sha512'],
    ['a hash that objects inherit', GOOD.replace('sha256', 'constructor'), 'one of sha256, sha384, sha512'],
    ['the digest of another hash', GOOD.replace('sha256', 'sha384'), 'must have 64 characters of base64url'],
    ['a digest with padding', GOOD.replace(DIGEST, `${DIGEST}=`), 'must have 43 characters of base64url'],
    ['a digest in base64', GOOD.replace(DIGEST, `+${DIGEST.slice(1)}`), 'must have 43 characters of base64url'],
    ['a digest in hex', GOOD.replace(DIGEST, 'ab'.repeat(32)), 'must have 43 characters of base64url'],
    ['a digest with other spare bits', GOOD.replace(DIGEST, `${DIGEST.slice(0, -1)}B`), 'is of no certificate above'],
    ['no digest', GOOD.replace(`:${DIGEST}`, ''), 'must have 43 characters'],
    ['no policy', GOOD.replace('::subject:CN:Ann', ''), 'it must have policies, each behind two colons'],
    ['one part more before its policies', GOOD.replace('::', ':1::'), 'it must have policies, each behind two colons'],
    ['a policy behind one colon', GOOD.replace('::', ':'), 'it must have policies, each behind two colons'],
    ['a policy behind three colons', GOOD.replace('::', ':::'), 'one of subject, san, eku, fulcio-issuer'],
    ['an empty policy', `${GOOD}::`, 'one of subject, san, eku, fulcio-issuer'],
    ['an unknown policy', `${GOOD}::serial:1`, 'one of subject, san, eku, fulcio-issuer'],
    ['a policy of a later draft', `${GOOD}::fulcio:issuer:a`, 'one of subject, san, eku, fulcio-issuer'],
    ['a policy that objects inherit', `${GOOD}::toString:1`, 'one of subject, san, eku, fulcio-issuer'],
    ['a policy in capitals', GOOD.replace('subject', 'SUBJECT'), 'one of subject, san, eku, fulcio-issuer'],
    ['a policy without values', policy('subject'), VALUES],
    ['an empty value', subject('CN:'), VALUES],
    ['a space', subject('CN:Ann '), VALUES],
    ['a plus sign', subject('CN:A+n'), VALUES],
    ['a tilde', subject('CN:Ann~'), VALUES],
    ['a letter that is not ASCII', subject('CN:Ånn'), VALUES],
    ['a line feed behind it', `${GOOD}\n`, VALUES],
    ['a fragment', `${GOOD}#0`, VALUES],
    ['half an encoded byte', subject('CN:Ann%4'), VALUES],
    ['an encoded byte that is not hex', subject('CN:Ann%4g'), VALUES],
    ['encoded bytes that are not UTF-8', subject('CN:Ann%FF'), 'must be UTF-8'],
    ['an encoding longer than needed', subject('CN:%C1%81nn'), 'must be UTF-8'],
    ['an encoded surrogate', subject('CN:Ann%ED%A0%80'), 'must be UTF-8'],
    ['a key without a value', subject('CN:Ann:O'), 'a value for each key'],
    ['an unknown key', subject('S:Bayern'), KEYS],
    ['a key in small letters', subject('cn:Ann'), KEYS],
    ['an encoded key', subject('%43N:Ann'), KEYS],
    ['a key that objects inherit', subject('constructor:Ann'), KEYS],
    ['the object identifier of a key with a name', subject('2.5.4.3:Ann'), KEYS],
    ['a key twice', subject('CN:Ann:CN:Ann'), 'each key once'],
    ['a key twice with two values', subject('CN:Ann:CN:Bob'), 'each key once'],
    ['a kind of name that has no form', policy('san:dn:Ann'), 'must be email, dns, uri with one value'],
    ['a kind of name that objects inherit', policy('san:toString:Ann'), 'must be email, dns, uri with one value'],
    ['a kind of name without a value', policy('san:dns'), 'must be email, dns, uri with one value'],
    ['two names in one policy', policy('san:dns:a:b'), 'must be email, dns, uri with one value'],
    ['a usage that is not numbers', policy('eku:codeSigning'), 'one object identifier'],
    ['an encoded usage', policy('eku:1%2E3'), 'one object identifier'],
    ['two usages in one policy', policy('eku:1.3:1.3'), 'one object identifier'],
    ['two values of Fulcio', policy('fulcio-issuer:a:b'), 'must have one value'],
    ['the method in capitals', GOOD.replace('x509', 'X509'), 'not among the names'],
  ])('with %s', (_what, did, refusal) => {
    expect(judged(did, [leaf, middle], [root])).toMatch(refusal);
  });

  it('also if the certificate has the same text as one of its names', () => {
    const loose = GOOD.replace('CN:Ann', 'CN:Bob');
    const posing = signer({ uris: [loose] });
    expect(judged(loose, [posing, middle], [root])).toMatch('does not have the value of subject:CN');
  });
});
