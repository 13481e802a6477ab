import { createHash, createPublicKey } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { utf8 } from '../../src/core/bytes.js';
import type { CborMap, CborValue } from '../../src/core/cose/cbor.js';
import { newKeyPair } from '../../src/platform/keys/new-key-pair.js';
import { examineStatement } from '../../src/scitt/examine-statement.js';
import { type KeyResolution, type KeySources, resolveKey } from '../../src/scitt/resolve-key.js';
import { readTrustAnchor, type TrustAnchor } from '../../src/scitt/trust-anchor.js';
import {
  authority,
  CERTIFICATE_SIGN,
  type CertificateParts,
  DIGITAL_SIGNATURE,
  der,
  KEY_ENCIPHERMENT,
  nameConstraints,
  oid,
  type SampleCertificate,
  sampleCertificate,
  sequence,
} from './sample-certificate.js';
import { didX509 } from './sample-did-x509.js';
import {
  ALGORITHMS,
  coseKeyOf,
  type SampleIssuer,
  type SampleParts,
  sampleDigest,
  sampleIssuer,
  sampleStatement,
} from './sample-statement.js';

const ISSUER = 'https://issuer.example';
const NOW = Date.now();
let anchors = 0;

function anchor(read: ReturnType<typeof readTrustAnchor>): TrustAnchor {
  anchors += 1;
  return { ...read, tenantId: 'tenant', anchorId: `anchor-${anchors}`, createdAt: new Date(NOW) };
}

const registered = ({ publicKey }: SampleIssuer, kid?: string) =>
  anchor(readTrustAnchor({ issuer: ISSUER, public_key: publicKey.export({ format: 'jwk' }) as never, kid }));
const trusted = (ca: SampleCertificate) => anchor(readTrustAnchor({ certificate: ca.pem }));

/** The hashes of an x5t, by their COSE numbers. */
const SHA2 = [
  [-16, 'sha256'],
  [-43, 'sha384'],
  [-44, 'sha512'],
] as const;

const thumbprint = (certificate: Uint8Array, algorithm: number, name: string): CborValue => [
  algorithm,
  new Uint8Array(createHash(name).update(certificate).digest()),
];

/** An RSA key pair whose public key is for RSASSA-PSS only (RFC 4055). */
function pssKeys() {
  const { publicKey, privateKey } = newKeyPair({ type: 'rsa', bits: 2048 });
  // The bit string with the key follows the heads of both sequences, the algorithm's name and its null.
  const bits = publicKey.export({ type: 'spki', format: 'der' }).subarray(19);
  const spki = sequence(sequence(oid('2a864886f70d01010a')), bits);
  return { publicKey: createPublicKey({ key: spki, format: 'der', type: 'spki' }), privateKey };
}

const NOTHING: KeySources = { issuerKeys: [], authorities: [], selfAsserted: true, reserved: [], nowMs: NOW };

/** How the key was found, or why not. */
async function resolved(
  statement: Uint8Array,
  sources: Partial<KeySources> = {},
): Promise<KeyResolution['method'] | string> {
  try {
    const resolution = await resolveKey(examineStatement(statement), { ...NOTHING, ...sources });
    return resolution.method;
  } catch (error) {
    return (error as Error).message;
  }
}

describe('a key that the statement brings itself', () => {
  it.each(Object.entries(ALGORITHMS))('is taken where the tenancy allows it: %s', async (_name, algorithm) => {
    const issuer = sampleIssuer(algorithm);
    expect(await resolved(sampleStatement(issuer))).toBe('self_asserted');
    expect(await resolved(sampleStatement(issuer), { selfAsserted: false })).toMatch('does not allow self-asserted');
  });

  it('is judged by all its parameters, also when a key like it was seen before', async () => {
    const issuer = sampleIssuer();
    const key = coseKeyOf(issuer);
    const judge = (changed: CborMap) => resolved(sampleStatement(issuer, { confirmation: new Map(changed) }));
    expect(await judge(key)).toBe('self_asserted');
    expect(await judge(new Map(key).set(2, Uint8Array.of(1)))).toBe('self_asserted');
    expect(await judge(new Map(key).set(-4, new Uint8Array(32)))).toMatch('not a public key');
    for (const same of [-7, -9, 'ES256', 'ESP256'])
      expect(await judge(new Map(key).set(3, same))).toBe('self_asserted');
    for (const other of [-8, -35, -51, 'ES384', 'RS256'])
      expect(await judge(new Map(key).set(3, other))).toMatch('for another algorithm');
    expect(await judge(new Map(key).set(-2, coseKeyOf(sampleIssuer()).get(-2)!))).toMatch(
      'cannot be used: its point is not on the curve',
    );
    expect(await judge(new Map(key).set(-2, 'text'))).toMatch('coordinate');
    expect(await judge(coseKeyOf(sampleIssuer()))).toMatch('does not verify');
  });

  it('is what an unknown issuer is told to bring, where the tenancy allows it', async () => {
    const statement = sampleStatement(sampleIssuer(), { confirmation: false });
    expect(await resolved(statement)).toMatch(/adds its key as a trust anchor, or the statement carries the key/);
    expect(await resolved(statement, { selfAsserted: false })).toMatch(/adds its key as a trust anchor\.$/);
  });

  it('does not sign for an issuer that is registered, nor for the service itself', async () => {
    const [known, stranger] = [sampleIssuer(), sampleIssuer()];
    const forged = sampleStatement(stranger);
    expect(await resolved(forged, { issuerKeys: [registered(known)] })).toMatch(
      'No registered key of this issuer has this kid',
    );
    expect(await resolved(forged, { issuerKeys: [registered(known, 'testkey')] })).toMatch('does not verify');
    expect(await resolved(forged, { reserved: [ISSUER] })).toMatch('the service itself');
  });

  it('does not prove a did:x509, which is a name of certificates; an Owner may register a key for it', async () => {
    const [issuer, did] = [sampleIssuer(), didX509(authority(), 'subject:CN:Ann')];
    const statement = sampleStatement(issuer, { issuer: did });
    expect(await resolved(statement)).toMatch('x5chain (33) must have those of the signer');
    expect(await resolved(statement, { issuerKeys: [registered(issuer, 'testkey')] })).toBe('registered_issuer');
  });

  const another = sampleIssuer(ALGORITHMS.ES384);
  it.each<[string, SampleParts, RegExp]>([
    ['another key than the signer', { confirmation: coseKeyOf(sampleIssuer()) }, /does not verify/],
    ['a key of another kind', { confirmation: coseKeyOf(another) }, /does not fit its algorithm ES256/],
    [
      'a key for another algorithm',
      { confirmation: new Map(coseKeyOf(another)).set(3, -7) },
      /does not fit its algorithm ES256/,
    ],
    ['no key', { confirmation: 'none' }, /not a COSE_Key/],
    ['a private key', { confirmation: new Map(coseKeyOf(another)).set(-4, new Uint8Array(48)) }, /not a public key/],
    ['a point off the curve', { confirmation: pointOffCurve() }, /cannot be used/],
    ['an RSA key of 1024 bits', { confirmation: shortRsa() }, /2048 to 8192/],
    ['another payload under the signature', { signedPayload: sampleDigest('another call') }, /does not verify/],
  ])('is refused: %s', async (_what, parts, reason) => {
    expect(await resolved(sampleStatement(sampleIssuer(), parts))).toMatch(reason);
  });

  it.each(['EC', 'EC2'])('is read with text for type and curve: %s', async (kty) => {
    const issuer = sampleIssuer();
    const confirmation = new Map([...coseKeyOf(issuer)]).set(1, kty).set(-1, 'P-256').set(4, [1, 2]);
    expect(await resolved(sampleStatement(issuer, { confirmation }))).toBe('self_asserted');
  });

  it.each<[string, (signature: Uint8Array) => Uint8Array]>([
    ['zeros', (signature) => signature.fill(0)],
    ['ones', (signature) => signature.fill(0xff)],
    ['half of it', (signature) => signature.subarray(0, 32)],
    ['a byte too many', (signature) => new Uint8Array([...signature, 0])],
  ])('is refused with a signature of %s', async (_what, damage) => {
    const statement = examineStatement(sampleStatement(sampleIssuer()));
    const { sign1 } = statement.read;
    const damaged = {
      ...statement,
      read: { ...statement.read, sign1: { ...sign1, signature: damage(sign1.signature) } },
    };
    await expect(resolveKey(damaged, NOTHING)).rejects.toThrow(/does not verify/);
  });

  it('must be there, or a kid, or a chain', async () => {
    const nameless = sampleStatement(sampleIssuer(), { confirmation: false, headers: new Map([[4, undefined]]) });
    expect(await resolved(nameless)).toMatch('names no key');
    expect(await resolved(sampleStatement(sampleIssuer(), { confirmation: false }))).toMatch('not registered');
  });
});

describe('a kid of text, as some libraries write it', () => {
  it('names no key, and the refusal says that it must be a byte string', async () => {
    const issuer = sampleIssuer();
    const statement = sampleStatement(issuer, { confirmation: false, headers: new Map([[4, 'testkey']]) });
    expect(await resolved(statement)).toMatch('kid (4), which is a byte string');
    expect(await resolved(statement, { issuerKeys: [registered(issuer, 'testkey')] })).toMatch(
      'kid (4), which is a byte string',
    );
  });
});

describe('a key of a registered issuer', () => {
  it.each(Object.entries(ALGORITHMS))('is found by the kid it was registered with: %s', async (_name, algorithm) => {
    const issuer = sampleIssuer(algorithm);
    const sources = { issuerKeys: [registered(sampleIssuer(algorithm), 'old'), registered(issuer, 'testkey')] };
    expect(await resolved(sampleStatement(issuer, { confirmation: false }), { ...sources, selfAsserted: false })).toBe(
      'registered_issuer',
    );
  });

  it('is for the algorithm that its JWK names, also while the same key is registered elsewhere without one', async () => {
    const issuer = sampleIssuer(ALGORITHMS.PS256);
    const jwk = issuer.publicKey.export({ format: 'jwk' }) as Record<string, unknown>;
    const keyFor = (alg?: string) =>
      anchor(readTrustAnchor({ issuer: ISSUER, public_key: { ...jwk, ...(alg ? { alg } : {}) }, kid: 'testkey' }));
    const statement = sampleStatement(issuer, { confirmation: false });
    for (const alg of [undefined, 'PS256'])
      expect(await resolved(statement, { issuerKeys: [keyFor(alg)] })).toBe('registered_issuer');
    expect(await resolved(statement, { issuerKeys: [keyFor('PS384')] })).toMatch('does not fit its algorithm PS256');
  });

  it('is found by its thumbprint', async () => {
    const issuer = sampleIssuer();
    const known = registered(issuer);
    const headers = new Map([[4, known.thumbprint]]);
    expect(await resolved(sampleStatement(issuer, { headers }), { issuerKeys: [known] })).toBe('registered_issuer');
  });

  it('is not found by a kid that is unprotected', async () => {
    const issuer = sampleIssuer();
    const parts = { headers: new Map([[4, undefined]]), unprotected: new Map([[4, utf8('testkey')]]) };
    expect(await resolved(sampleStatement(issuer, parts), { issuerKeys: [registered(issuer, 'testkey')] })).toMatch(
      'protected kid',
    );
  });
});

describe('a chain of certificates', () => {
  const SIGNS = { subject: 'A signer', uris: [ISSUER], usages: [DIGITAL_SIGNATURE] };
  const root = authority();
  const otherRoot = authority();
  const middle = authority({ subject: 'Between', issuedBy: root, pathLength: 0 });

  function signedBy(signer: SampleCertificate, chain: CborValue, parts: SampleParts = {}): Uint8Array {
    const { privateKey, publicKey } = signer;
    const headers = new Map<number, CborValue | undefined>([[4, undefined], [33, chain], ...(parts.headers ?? [])]);
    return sampleStatement(
      { algorithm: ALGORITHMS.ES256, privateKey, publicKey },
      { confirmation: false, ...parts, headers },
    );
  }

  it('leads to a registered authority, with the root or without', async () => {
    const direct = sampleCertificate({ ...SIGNS, issuedBy: root });
    const below = sampleCertificate({ ...SIGNS, issuedBy: middle });
    const sources = { authorities: [trusted(otherRoot), trusted(root)], selfAsserted: false };
    expect(await resolved(signedBy(direct, direct.der), sources)).toBe('x5chain');
    expect(await resolved(signedBy(below, [below.der, middle.der]), sources)).toBe('x5chain');
    expect(await resolved(signedBy(below, [below.der, middle.der, root.der]), sources)).toBe('x5chain');
    // Registered by an earlier version, which read certificates less strictly.
    const unreadable = {
      ...trusted(otherRoot),
      material: '-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----',
    };
    expect(await resolved(signedBy(direct, direct.der), { authorities: [unreadable, trusted(root)] })).toBe('x5chain');
  });

  it('is checked under so many authorities of one name, and no more', async () => {
    const ofOneName = Array.from({ length: 16 }, () => authority());
    const signer = sampleCertificate({ ...SIGNS, issuedBy: ofOneName.at(-1)! });
    const statement = signedBy(signer, signer.der);
    const sixteen = ofOneName.map(trusted);
    expect(await resolved(statement, { authorities: sixteen })).toBe('x5chain');
    expect(await resolved(statement, { authorities: [trusted(authority()), ...sixteen] })).toMatch('more than 16');
    const others = Array.from({ length: 20 }, (_, place) => trusted(authority({ subject: `Another ${place}` })));
    expect(await resolved(statement, { authorities: [...others, ...sixteen] })).toBe('x5chain');
  });

  it('counts unprotected only with a protected thumbprint of its first certificate', async () => {
    const signer = sampleCertificate({ ...SIGNS, issuedBy: root });
    const sources = { authorities: [trusted(root)] };
    const unprotected = new Map([[33, signer.der]]);
    const bare = signedBy(signer, null, { headers: new Map([[33, undefined]]), unprotected });
    expect(await resolved(bare, sources)).toMatch('no protected x5t');
    const x5t = [-16, new Uint8Array(createHash('sha256').update(signer.der).digest())];
    const named = (thumbprint: CborValue) =>
      signedBy(signer, null, {
        headers: new Map<number, CborValue | undefined>([
          [33, undefined],
          [34, thumbprint],
        ]),
        unprotected,
      });
    expect(await resolved(named(x5t), sources)).toBe('x5chain');
    for (const [algorithm, name] of SHA2)
      expect(await resolved(named(thumbprint(signer.der, algorithm, name)), sources)).toBe('x5chain');
    expect(await resolved(named([-16, new Uint8Array(32)]), sources)).toMatch('another certificate');
    expect(await resolved(named([-15, x5t[1]!]), sources)).toMatch('algorithm of x5t');
  });

  it('is refused, protected as it is, when the thumbprint beside it is another certificate’s or cannot be checked', async () => {
    const signer = sampleCertificate({ ...SIGNS, issuedBy: root });
    const sources = { authorities: [trusted(root)] };
    const named = (x5t: CborValue, critical?: CborValue) =>
      signedBy(signer, signer.der, {
        headers: new Map<number, CborValue | undefined>([[34, x5t], ...(critical ? [[2, critical] as const] : [])]),
      });
    for (const [algorithm, name] of SHA2) {
      expect(await resolved(named(thumbprint(signer.der, algorithm, name), [34]), sources)).toBe('x5chain');
      expect(await resolved(named(thumbprint(root.der, algorithm, name)), sources)).toMatch('another certificate');
    }
    expect(await resolved(named([-15, new Uint8Array(8)]), sources)).toMatch('algorithm of x5t');
    expect(await resolved(named('a thumbprint'), sources)).toMatch('algorithm of x5t');
  });

  it('is refused where it does not hold', async () => {
    const signer = sampleCertificate({ ...SIGNS, issuedBy: root });
    const with_ = (parts: CertificateParts) => sampleCertificate({ ...SIGNS, issuedBy: root, ...parts });
    const sources = { authorities: [trusted(root)] };
    const past = new Date(NOW - 10_000);
    const refusal = (certificate: SampleCertificate, ...above: SampleCertificate[]) => {
      return resolved(signedBy(certificate, [certificate.der, ...above.map(({ der }) => der)]), sources);
    };
    expect(await resolved(signedBy(signer, signer.der), { authorities: [trusted(otherRoot)] })).toMatch(
      "no trusted authority: it has to begin with the signer's certificate",
    );
    expect(await resolved(signedBy(signer, signer.der), { authorities: [] })).toMatch('no trusted authority');
    expect(await refusal(with_({ notAfter: past }))).toMatch('not valid at this time');
    expect(await refusal(with_({ notBefore: new Date(NOW + 60_000) }))).toMatch('not valid at this time');
    expect(await refusal(with_({ usages: [KEY_ENCIPHERMENT] }))).toMatch(
      'not for signing statements: its key usage must include digitalSignature',
    );
    expect(await refusal(with_({ purposes: [1] }))).toMatch(
      'its extended key usage must include anyExtendedKeyUsage or codeSigning or emailProtection or documentSigning',
    );
    expect(await refusal(with_({ key: pssKeys() }))).toMatch('x5chain (33): its key is rsa-pss, not P-256');
    expect(await refusal(with_({ uris: ['https://other.example'] }))).toMatch(
      "not among the names in the signer's certificate: it has to be one of its URIs",
    );
    expect(await refusal(with_({ authority: true, usages: [CERTIFICATE_SIGN] }))).toMatch("an authority's");
    expect(await refusal(with_({ strange: 36 }))).toMatch('not understood');
    const posing = with_({ subject: 'No authority', usages: [CERTIFICATE_SIGN] });
    expect(await refusal(sampleCertificate({ ...SIGNS, issuedBy: posing }), posing)).toMatch('may not certify');
    const tooDeep = authority({ subject: 'Deeper', issuedBy: middle });
    expect(await refusal(sampleCertificate({ ...SIGNS, issuedBy: tooDeep }), tooDeep, middle)).toMatch('longer than');
    expect(await refusal(sampleCertificate({ ...SIGNS, issuedBy: tooDeep }), middle)).toMatch('not signed by the next');
    expect(await resolved(signedBy(signer, [signer.der, new Uint8Array([1, 2])]), sources)).toMatch('cannot be read');
    expect(await resolved(signedBy(signer, 'none'), sources)).toMatch('must hold');
    expect(await resolved(signedBy(signer, new Array(9).fill(signer.der)), sources)).toMatch('must hold');
    const thief = with_({});
    expect(await resolved(signedBy(thief, signer.der), sources)).toMatch('does not verify');
  });

  it('lets a common name speak unless an authority restricts names', async () => {
    const issuer = SIGNS.uris![0]!;
    const named = { subject: issuer, usages: [DIGITAL_SIGNATURE] };
    const free = sampleCertificate({ ...named, issuedBy: root });
    expect(await resolved(signedBy(free, [free.der]), { authorities: [trusted(root)] })).toBe('x5chain');
    const permitted = nameConstraints([der(0x86, Buffer.from('elsewhere.example'))]);
    const restricted = authority({ subject: 'Restricted', issuedBy: root, more: [permitted] });
    const posing = sampleCertificate({ ...named, issuedBy: restricted });
    const refusal = await resolved(signedBy(posing, [posing.der, restricted.der]), { authorities: [trusted(root)] });
    expect(refusal).toMatch('not among the names');
    const uri = sampleCertificate({ ...SIGNS, issuedBy: restricted });
    expect(await resolved(signedBy(uri, [uri.der, restricted.der]), { authorities: [trusted(root)] })).toMatch(
      'may not give',
    );
  });

  it('does not fall back on the key that the statement brings', async () => {
    const signer = sampleCertificate(SIGNS);
    const { publicKey } = signer;
    const brought = coseKeyOf({ algorithm: ALGORITHMS.ES256, publicKey, privateKey: publicKey });
    expect(await resolved(signedBy(signer, signer.der, { confirmation: brought }))).toMatch('no trusted authority');
  });
});

function pointOffCurve(): CborValue {
  const key = coseKeyOf(sampleIssuer());
  return new Map<number, CborValue>([...key, [-3, new Uint8Array(32).fill(7)]] as [number, CborValue][]);
}

function shortRsa(): CborValue {
  const n = new Uint8Array(128).fill(0xc1);
  return new Map<number, CborValue>([
    [1, 3],
    [-1, n],
    [-2, new Uint8Array([1, 0, 1])],
  ]);
}
