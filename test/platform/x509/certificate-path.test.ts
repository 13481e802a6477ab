import { spawnSync } from 'node:child_process';
import { createPublicKey } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newKeyPair } from '../../../src/platform/keys/new-key-pair.js';
import { readCertificate } from '../../../src/platform/x509/certificate.js';
import { assertAuthority, assertPath } from '../../../src/platform/x509/certificate-path.js';
import { CertificateUnusable } from '../../../src/platform/x509/certificate-unusable.js';
import { type Purpose, TLS_CLIENT } from '../../../src/platform/x509/purpose.js';
import { STATEMENT_SIGNER } from '../../../src/scitt/statement-signer.js';
import {
  type CertificateParts,
  der,
  extension,
  name,
  nameConstraints,
  oid,
  type SampleCertificate,
  sampleCertificate,
  sequence,
} from '../../scitt/sample-certificate.js';

const [DIGITAL_SIGNATURE, KEY_ENCIPHERMENT, CERTIFICATE_SIGN] = [0, 2, 5];
const [SERVER, CLIENT, CODE, MAIL] = [1, 2, 3, 4];
const NOW = Date.now();
const hasOpenssl = spawnSync('openssl', ['version']).stdout?.toString().startsWith('OpenSSL 3') ?? false;

/** The same table is held for both uses, each with the purpose of OpenSSL that it is nearest to. */
const USES: readonly {
  readonly name: string;
  readonly purpose: Purpose;
  readonly eku: number;
  readonly openssl: string;
}[] = [
  { name: 'a TLS client', purpose: TLS_CLIENT, eku: CLIENT!, openssl: 'sslclient' },
  { name: "a statement's signer", purpose: STATEMENT_SIGNER, eku: MAIL!, openssl: 'smimesign' },
];

type Path = readonly SampleCertificate[];
interface Maker {
  readonly root: (parts?: CertificateParts) => SampleCertificate;
  readonly middle: (issuedBy: SampleCertificate, parts?: CertificateParts) => SampleCertificate;
  readonly leaf: (issuedBy: SampleCertificate, parts?: CertificateParts) => SampleCertificate;
}

function maker(eku: number): Maker {
  const authority = { authority: true, usages: [CERTIFICATE_SIGN!], identifiers: true };
  return {
    root: (parts) => sampleCertificate({ subject: 'Root', ...authority, ...parts }),
    middle: (issuedBy, parts) => sampleCertificate({ subject: 'Middle', ...authority, issuedBy, ...parts }),
    leaf: (issuedBy, parts) =>
      sampleCertificate({
        subject: 'Leaf',
        issuedBy,
        usages: [DIGITAL_SIGNATURE!],
        purposes: [eku],
        identifiers: true,
        ...parts,
      }),
  };
}

const dns = (text: string) => der(0x82, Buffer.from(text));
const uri = (text: string) => der(0x86, Buffer.from(text));
const mail = (text: string) => der(0x81, Buffer.from(text));
const ip = (...bytes: number[]) => der(0x87, Buffer.from(bytes));
const directory = (named: Uint8Array) => der(0xa4, named);
const names = (...all: Uint8Array[]) => extension(17, false, sequence(...all));
const organisation = (text: string) => der(0x31, sequence(oid('55040a'), der(0x0c, Buffer.from(text))));
const common = (text: string) => der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from(text))));
const past = (seconds: number) => new Date(NOW - seconds * 1000);
const TRUE = der(0x01, Buffer.of(0xff));
const NULL = der(0x05);

/** A leaf with these names under an authority that is constrained so. */
function constrained(permitted: readonly Uint8Array[], excluded: readonly Uint8Array[], ...given: Uint8Array[]) {
  return ({ root, middle, leaf }: Maker): Path => {
    const top = root();
    const between = middle(top, { more: [nameConstraints(permitted, excluded)] });
    return [leaf(between, given.length === 0 ? {} : { more: [names(...given)] }), between, top];
  };
}

/** A leaf whose subject has a mail address at this host, under an authority for addresses at example.com. */
function mailSubject(host: string) {
  const address = der(0x31, sequence(oid('2a864886f70d010901'), der(0x16, Buffer.from(`a@${host}`))));
  return altered({
    middle: { more: [nameConstraints([mail('example.com')])] },
    leaf: { subjectName: sequence(common('Leaf'), address) },
  });
}

/** A leaf under one authority between, of which these parts are other than they should be. */
function altered(parts: { leaf?: CertificateParts; middle?: CertificateParts; root?: CertificateParts }) {
  return ({ root, middle, leaf }: Maker): Path => {
    const top = root(parts.root);
    const between = middle(top, parts.middle);
    return [leaf(between, parts.leaf), between, top];
  };
}

function signedWithPss(hash: 'sha1' | 'sha256') {
  return ({ root, leaf }: Maker): Path => {
    const top = root({ key: 2048, pss: true });
    return [leaf(top, { pss: true, hash }), top];
  };
}

type Row = readonly [row: string, make: (maker: Maker) => Path];

/** Each row has the verdict that OpenSSL has. */
const AGREED: readonly Row[] = [
  ['a good chain', altered({})],
  ['a good chain without an authority between', ({ root, leaf }) => ((top) => [leaf(top), top])(root())],
  ['an issuer that is no authority', altered({ middle: { authority: false, usages: [DIGITAL_SIGNATURE!] } })],
  ['an issuer without basic constraints', altered({ middle: { basicConstraints: 'none' } })],
  ['an authority whose key usage has no keyCertSign', altered({ middle: { usages: [DIGITAL_SIGNATURE!] } })],
  ['a root whose key usage has no keyCertSign', altered({ root: { usages: [DIGITAL_SIGNATURE!] } })],
  ['a path length that suffices', altered({ root: { pathLength: 1 }, middle: { pathLength: 0 } })],
  ['a path length that is exceeded', altered({ root: { pathLength: 0 } })],
  [
    'a path length that is exceeded below',
    ({ root, middle, leaf }) => {
      const top = root();
      const first = middle(top, { pathLength: 0 });
      const second = middle(first, { subject: 'Second' });
      return [leaf(second), second, first, top];
    },
  ],
  [
    'a path length that a self-issued authority does not use up',
    ({ root, middle, leaf }) => {
      const top = root();
      const first = middle(top, { pathLength: 0 });
      const renewed = middle(first, { pathLength: 0 });
      return [leaf(renewed), renewed, first, top];
    },
  ],
  ['a path length of what is no authority', altered({ leaf: { pathLength: 0 } })],
  ['an unknown critical extension of the leaf', altered({ leaf: { more: [extension(99, true, sequence())] } })],
  ['an unknown critical extension of an authority', altered({ middle: { more: [extension(99, true, sequence())] } })],
  ['an unknown critical extension of the root', altered({ root: { more: [extension(99, true, sequence())] } })],
  ['an unknown extension that is not critical', altered({ leaf: { more: [extension(99, false, sequence())] } })],
  ['an expired leaf', altered({ leaf: { notBefore: past(100), notAfter: past(50) } })],
  ['an expired authority', altered({ middle: { notBefore: past(100), notAfter: past(50) } })],
  ['an expired root', altered({ root: { notBefore: past(100), notAfter: past(50) } })],
  ['a leaf that is not valid yet', altered({ leaf: { notBefore: past(-3600) } })],
  ['an authority that is not valid yet', altered({ middle: { notBefore: past(-3600) } })],
  [
    'no purpose',
    ({ root }) => {
      const top = root();
      const parts = { subject: 'Leaf', issuedBy: top, usages: [DIGITAL_SIGNATURE!], identifiers: true };
      return [sampleCertificate(parts), top];
    },
  ],
  ['another purpose', altered({ leaf: { purposes: [SERVER!] } })],
  ['an authority for another purpose', altered({ middle: { purposes: [SERVER!] } })],
  ['a root for another purpose', altered({ root: { purposes: [SERVER!] } })],
  ['a key usage that does not sign', altered({ leaf: { usages: [KEY_ENCIPHERMENT!] } })],
  ['a leaf with keyCertSign', altered({ leaf: { usages: [DIGITAL_SIGNATURE!, CERTIFICATE_SIGN!] } })],
  ['basic constraints twice', altered({ middle: { more: [extension(19, true, sequence(TRUE))] } })],
  ['a key usage twice', altered({ leaf: { more: [extension(15, true, der(0x03, Buffer.of(7, 0x80)))] } })],
  ['a SHA-1 signature on the leaf', altered({ leaf: { hash: 'sha1' } })],
  ['a SHA-1 signature on an authority', altered({ middle: { hash: 'sha1' } })],
  ['a SHA-1 signature of the root on itself', altered({ root: { hash: 'sha1' } })],
  ['an RSASSA-PSS signature over SHA-256', signedWithPss('sha256')],
  ['an RSASSA-PSS signature over SHA-1', signedWithPss('sha1')],
  ['an RSA leaf of 2,048 bits', altered({ leaf: { key: 2048 } })],
  ['an RSA leaf of 1,024 bits', altered({ leaf: { key: 1024 } })],
  ['an RSA authority of 1,024 bits', altered({ middle: { key: 1024 } })],
  ['an RSA root of 1,024 bits', altered({ root: { key: 1024 } })],
  ['a key of a curve of 192 bits', altered({ leaf: { key: 'prime192v1' } })],
  ['a root of version 1', altered({ root: { version: 1 } })],
  ['an authority of version 1', altered({ middle: { version: 1 } })],
  ['extensions in version 1', altered({ leaf: { version: 1, more: [extension(99, false, sequence())] } })],
  ['an empty subject of an authority', altered({ middle: { subjectName: sequence() } })],
  ['an empty subject without alternative names', altered({ leaf: { subjectName: sequence() } })],
  [
    'an empty subject with alternative names that are not critical',
    altered({ leaf: { subjectName: sequence(), more: [names(dns('a.example'))] } }),
  ],
  ['empty alternative names', altered({ leaf: { more: [names()] } })],
  [
    'a critical subject key identifier',
    altered({ leaf: { identifiers: false, more: [extension(14, true, der(0x04, Buffer.of(1)))] } }),
  ],
  [
    'a signature by another key of the same name and key identifier',
    ({ root, middle, leaf }) => {
      const top = root();
      const between = middle(top);
      const { privateKey } = middle(top);
      return [leaf({ ...between, privateKey }), between, top];
    },
  ],
  [
    'an issuer name in another encoding and case',
    ({ root, middle, leaf }) => {
      const top = root();
      const between = middle(top);
      const spelt = { ...between, name: name(' MIDDLE', 0x13) };
      return [leaf(spelt), between, top];
    },
  ],
  ['a DNS name within its constraint', constrained([dns('example.com')], [], dns('a.example.com'))],
  ['a DNS name that is its constraint', constrained([dns('example.com')], [], dns('EXAMPLE.com'))],
  ['a DNS name beside its constraint', constrained([dns('example.com')], [], dns('badexample.com'))],
  ['a DNS name outside its constraint', constrained([dns('example.com')], [], dns('example.org'))],
  ['one of two DNS names outside', constrained([dns('example.com')], [], dns('example.com'), dns('example.org'))],
  ['a DNS name that is excluded', constrained([], [dns('example.com')], dns('a.example.com'))],
  ['a DNS name that is not excluded', constrained([], [dns('example.com')], dns('a.example.org'))],
  [
    'a DNS name that is permitted and excluded',
    constrained([dns('example.com')], [dns('a.example.com')], dns('a.example.com')),
  ],
  ['no name of the constrained kind', constrained([dns('example.com')], [], mail('a@example.org'))],
  ['a mail address at a permitted host', constrained([mail('example.com')], [], mail('a@example.com'))],
  ['a mail address below a permitted host', constrained([mail('example.com')], [], mail('a@b.example.com'))],
  ['a mail address below a permitted domain', constrained([mail('.example.com')], [], mail('a@b.example.com'))],
  ['another mail address than the permitted one', constrained([mail('a@example.com')], [], mail('b@example.com'))],
  ['the permitted mail address', constrained([mail('a@example.com')], [], mail('a@EXAMPLE.com'))],
  ['the permitted mailbox at another host', constrained([mail('a@example.com')], [], mail('a@example.org'))],
  ['the permitted mail address in capitals', constrained([mail('a@example.com')], [], mail('A@example.com'))],
  ['a mail address of the subject at a permitted host', mailSubject('example.com')],
  ['a mail address of the subject at another host', mailSubject('example.org')],
  ['a mail address that is excluded', constrained([], [mail('example.com')], mail('a@example.com'))],
  ['a URI at a permitted host', constrained([uri('example.com')], [], uri('https://example.com/issuer'))],
  ['a URI below a permitted domain', constrained([uri('.example.com')], [], uri('https://a.example.com:8080/'))],
  ['a URI outside a permitted domain', constrained([uri('.example.com')], [], uri('https://example.org/'))],
  ['a URI without a host under a constraint', constrained([uri('.example.com')], [], uri('did:web:a.example.com'))],
  ['a URI that is excluded', constrained([], [uri('.example.com')], uri('https://a.example.com/'))],
  ['an address in a permitted network', constrained([ip(10, 0, 0, 0, 255, 0, 0, 0)], [], ip(10, 1, 2, 3))],
  ['an address outside a permitted network', constrained([ip(10, 0, 0, 0, 255, 0, 0, 0)], [], ip(11, 1, 2, 3))],
  ['an address of another family', constrained([ip(10, 0, 0, 0, 255, 0, 0, 0)], [], ip(...new Array(16).fill(1)))],
  ['a directory name outside its constraint', constrained([directory(sequence(organisation('Acme')))], [])],
  [
    'a directory name within its constraint',
    ({ root, middle, leaf }) => {
      const top = root();
      const between = middle(top, { more: [nameConstraints([directory(sequence(organisation('acme  CORP')))])] });
      return [leaf(between, { subjectName: sequence(organisation('Acme Corp'), common('Leaf')) }), between, top];
    },
  ],
  [
    'a common name that is a host outside the constraint on DNS names',
    ({ root, middle, leaf }) => {
      const top = root();
      const between = middle(top, { more: [nameConstraints([dns('example.com')])] });
      return [leaf(between, { subject: 'www.example.org' }), between, top];
    },
  ],
  [
    'a constraint of the root that an authority between violates',
    ({ root, middle, leaf }) => {
      const top = root({ more: [nameConstraints([directory(sequence(organisation('Acme')))])] });
      const between = middle(top);
      return [leaf(between, { subjectName: sequence(organisation('Acme')) }), between, top];
    },
  ],
  [
    'a registered id under a constraint on registered ids',
    constrained([der(0x88, Buffer.of(0x2a))], [], der(0x88, Buffer.of(0x2a))),
  ],
  [
    'an excluded directory name whose character differs beyond 16 bits',
    ({ root, middle, leaf }) => {
      const wide = der(0x31, sequence(oid('55040a'), der(0x1c, Buffer.of(0, 1, 0, 0x41))));
      const top = root();
      const between = middle(top, { more: [nameConstraints([], [directory(sequence(wide))])] });
      return [leaf(between, { subjectName: sequence(organisation('A')) }), between, top];
    },
  ],
  [
    'two extensions whose identifiers differ beyond 53 bits',
    altered({
      leaf: { more: ['9080808080808000', '9080808080808001'].map((arc) => sequence(oid(`69${arc}`), der(0x04, NULL))) },
    }),
  ],
  ['critical policies', altered({ leaf: { more: [extension(32, true, sequence(sequence(oid('2a03'))))] } })],
];

/** An RSA key whose exponent is as long as its modulus. */
function slowKey() {
  const pair = newKeyPair({ type: 'rsa', bits: 2048 });
  const jwk = { ...pair.publicKey.export({ format: 'jwk' }), e: Buffer.alloc(256, 0x55).toString('base64url') };
  return { ...pair, publicKey: createPublicKey({ key: jwk, format: 'jwk' }) };
}

/** Where ours is stricter: what OpenSSL accepts and why we do not. */
const STRICTER: readonly (readonly [...Row, reason: string])[] = [
  [
    'a leaf that is an authority',
    altered({ leaf: { authority: true, usages: [DIGITAL_SIGNATURE!, CERTIFICATE_SIGN!] } }),
    'an authority signs certificates and nothing else',
  ],
  [
    'an unknown extension twice',
    altered({ leaf: { more: [extension(99, false, sequence()), extension(99, false, sequence())] } }),
    'RFC 5280 section 4.2: no extension twice',
  ],
  [
    'a critical constraint on policies',
    altered({ middle: { more: [extension(36, true, sequence(der(0x80, Buffer.of(0))))] } }),
    'OpenSSL ignores it unless policies are asked for; RFC 5280 refuses what is not processed',
  ],
  [
    'a URI with characters that readers differ in',
    constrained([uri('.example.com')], [], uri('https://evil.org#.example.com')),
    'its host is evil.org',
  ],
  [
    'an RSA key with a huge exponent',
    (made) => altered({ leaf: { key: slowKey() } })(made),
    'each check of a signature under it takes milliseconds',
  ],
  [
    'critical distribution points of revocation lists',
    altered({
      leaf: { more: [extension(31, true, sequence(sequence(der(0xa0, der(0xa0, uri('http://crl.example/'))))))] },
    }),
    'we check no revocation, and the authority demands it',
  ],
  [
    'empty name constraints',
    altered({ middle: { more: [extension(30, true, sequence())] } }),
    'RFC 5280 section 4.2.1.10: not empty',
  ],
];

/** Where OpenSSL's strict mode is stricter: what a careful authority writes, and no path depends on. */
const LAXER: readonly (readonly [...Row, reason: string])[] = [
  [
    'no key identifiers',
    altered({ leaf: { identifiers: false }, middle: { identifiers: false } }),
    'they only help to find an issuer',
  ],
  [
    'an authority without a key usage',
    altered({ middle: { usages: undefined as never } }),
    'RFC 5280 section 6.1.4 (n): checked if present',
  ],
  [
    'basic constraints that are not critical',
    altered({ middle: { basicConstraints: extension(19, false, sequence(TRUE)) } }),
    'they are understood either way',
  ],
];

describe.each(USES)('the path of $name', ({ purpose, eku, openssl }) => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'x509-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  /** Undefined when the path holds, else why not. */
  function ours(path: Path): string | undefined {
    try {
      assertPath(
        path.map((each) => readCertificate(each.der)),
        purpose,
        NOW,
      );
      return undefined;
    } catch (error) {
      if (error instanceof CertificateUnusable) return error.message;
      throw error;
    }
  }

  function opensslRefuses(path: Path): string | undefined {
    const file = (content: string, title: string) => {
      writeFileSync(join(folder, title), content);
      return join(folder, title);
    };
    const [leaf, ...above] = path;
    const args = ['verify', '-x509_strict', '-auth_level', '2', '-purpose', openssl];
    args.push('-attime', String(Math.floor(NOW / 1000)), '-CAfile', file(above.at(-1)!.pem, 'root.pem'));
    const between = above.slice(0, -1);
    if (between.length > 0) args.push('-untrusted', file(between.map(({ pem }) => pem).join(''), 'between.pem'));
    const { status, stderr, stdout } = spawnSync('openssl', [...args, file(leaf!.pem, 'leaf.pem')]);
    const said = `${stdout}${stderr}`;
    expect(said).not.toContain('Could not read');
    return status === 0 ? undefined : said;
  }

  it.skipIf(!hasOpenssl).each(AGREED)('has the verdict of OpenSSL: %s', (_, make) => {
    const path = make(maker(eku));
    const theirs = opensslRefuses(path);
    expect(ours(path) === undefined, `${ours(path)} / ${theirs}`).toBe(theirs === undefined);
  });

  it.skipIf(!hasOpenssl).each(STRICTER)('is refused, and OpenSSL accepts it: %s', (_row, make, _reason) => {
    const path = make(maker(eku));
    expect(ours(path)).toBeDefined();
    expect(opensslRefuses(path)).toBeUndefined();
  });

  it.skipIf(!hasOpenssl).each(LAXER)('holds, and OpenSSL’s strict mode refuses it: %s', (_row, make, _reason) => {
    const path = make(maker(eku));
    expect(ours(path)).toBeUndefined();
    expect(opensslRefuses(path)).toBeDefined();
  });

  it('holds from the first moment of its validity to the last, both included', () => {
    const { root, leaf } = maker(eku);
    const top = root();
    const path = [leaf(top, { notBefore: past(0), notAfter: past(-1) }), top].map(({ der: bytes }) =>
      readCertificate(bytes),
    );
    const second = Math.floor(NOW / 1000) * 1000;
    for (const at of [second, second + 1000]) expect(() => assertPath(path, purpose, at)).not.toThrow();
    for (const at of [second - 1, second + 1001]) expect(() => assertPath(path, purpose, at)).toThrow('not valid');
  });
});

/** Of an authority; its last day is in the year `.120`. */
const BAD_TIME = [
  'MIIBVjCB/KADAgECAgEBMAoGCCqGSM49BAMCMCExEDAOBgNVBAMTB0FjbWUgQ0Ex',
  'DTALBgNVBAoTBEFjbWUwIBcNMjAwMTAxMDAwMDAwWhgPLjEyMDAxMDEwMDAwMDBa',
  'MCExEDAOBgNVBAMTB0FjbWUgQ0ExDTALBgNVBAoTBEFjbWUwWTATBgcqhkjOPQIB',
  'BggqhkjOPQMBBwNCAASY14p95GtORlmsGculN7P/xkIJJsFijlvYqoLCf1aL9yKX',
  'ayyROqQ410ynPqIF1CylW1pmVnE2I4EFDZEV0QSBoyMwITAPBgNVHRMBAf8EBTAD',
  'AQH/MA4GA1UdDwEB/wQEAwICBDAKBggqhkjOPQQDAgNJADBGAiEAu/nclcCTi+Cr',
  'u5xP3A5l+1TAumDWNeYUu4qXE/yxAtMCIQCHJlFxQsxp8vyYAp/akSzUeqp9KNje',
  'asQXsGI+GdiOIg==',
].join('');

describe('a certificate whose time is not a time', () => {
  it('is unusable', () => {
    expect(() => readCertificate(Buffer.from(BAD_TIME, 'base64'))).toThrow(CertificateUnusable);
  });
});

describe('the reader of certificates', () => {
  const { root } = maker(CLIENT!);
  const genuine = root();

  it.each<[string, Uint8Array | string]>([
    ['nothing', new Uint8Array()],
    ['text', 'not a certificate'],
    ['bytes after the end', new Uint8Array([...genuine.der, 0])],
    ['a certificate cut short', genuine.der.subarray(0, 200)],
    ['more than 64 KiB', new Uint8Array(64 * 1024 + 1).fill(0x30)],
    ['critical as a Boolean that is neither true nor false', critical(1)],
  ])('refuses %s', (_row, bytes) => {
    expect(() => readCertificate(bytes)).toThrow(CertificateUnusable);
  });

  it('takes no authority whose signatures are slow to check', () => {
    expect(() => assertAuthority(readCertificate(genuine.der))).not.toThrow();
    expect(() => assertAuthority(readCertificate(root({ key: slowKey() }).der))).toThrow('an exponent below 2^32');
  });

  it('reads one in DER and in PEM alike', () => {
    expect(readCertificate(genuine.pem).subject).toEqual(readCertificate(genuine.der).subject);
  });

  it('takes a subscriber that names no purpose, and a signer that names one of several', () => {
    const top = root();
    const pathOf = (leaf: SampleCertificate) => [leaf, top].map(({ der: bytes }) => readCertificate(bytes));
    const bare = pathOf(sampleCertificate({ subject: 'Leaf', issuedBy: top, usages: [DIGITAL_SIGNATURE!] }));
    for (const purpose of [STATEMENT_SIGNER, TLS_CLIENT]) expect(() => assertPath(bare, purpose, NOW)).not.toThrow();
    const signer = pathOf(sampleCertificate({ subject: 'Leaf', issuedBy: top, purposes: [CODE!] }));
    expect(() => assertPath(signer, STATEMENT_SIGNER, NOW)).not.toThrow();
    expect(() => assertPath(signer, TLS_CLIENT, NOW)).toThrow('not for TLS clients');
  });

  /** A leaf whose unknown extension is marked critical with this byte. */
  function critical(byte: number): Uint8Array {
    const marked = sequence(oid('551d63'), der(0x01, Buffer.of(byte)), der(0x04, sequence()));
    return sampleCertificate({ more: [marked] }).der;
  }
});
