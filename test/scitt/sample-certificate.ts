import { constants, type KeyObject, sign } from 'node:crypto';
import { newKeyPair } from '../../src/platform/keys/new-key-pair.js';

/** A certificate of the tests' own making, and the key that it is of. */
export interface SampleCertificate {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
  readonly der: Uint8Array;
  readonly pem: string;
  readonly subject: string;
  /** Its subject as DER, and its subject key identifier. */
  readonly name: Uint8Array;
  readonly keyId: Uint8Array;
}

type KeyPair = ReturnType<typeof newKeyPair>;

export interface CertificateParts {
  /** The common name. */
  readonly subject?: string;
  readonly issuedBy?: SampleCertificate;
  readonly authority?: boolean;
  readonly pathLength?: number;
  /** Bits of the key usage from the left (RFC 5280 section 4.2.1.3). */
  readonly usages?: readonly number[];
  /** Last arcs under 1.3.6.1.5.5.7.3. */
  readonly purposes?: readonly number[];
  readonly uris?: readonly string[];
  readonly notBefore?: Date;
  readonly notAfter?: Date;
  /** Last arc under 2.5.29 of a further, critical extension. */
  readonly strange?: number;
  /** Further extensions, each as `extension` makes it. */
  readonly more?: readonly Uint8Array[];
  /** 3 when absent; a certificate of version 1 has no extensions unless `more` has some. */
  readonly version?: 1 | 3;
  /** SHA-256 when absent. */
  readonly hash?: 'sha1' | 'sha256';
  /** RSASSA-PSS (RFC 4055), by an issuer with an RSA key. */
  readonly pss?: boolean;
  /** A new RSA key of so many bits, a key of this curve, or this one, instead of P-256. */
  readonly key?: number | string | KeyPair;
  /** Subject and authority key identifiers, which a strict reader asks for. */
  readonly identifiers?: boolean;
  /** The subject as DER. */
  readonly subjectName?: Uint8Array;
  /** The bytes of its serial number; another positive one each time when absent. */
  readonly serial?: Uint8Array;
  /** Basic constraints of an own making, or none. */
  readonly basicConstraints?: Uint8Array | 'none';
}

export const DIGITAL_SIGNATURE = 0;
export const KEY_ENCIPHERMENT = 2;
export const CERTIFICATE_SIGN = 5;

/** One element of DER. */
export function der(tag: number, ...contents: Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const head = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.of(tag, ...head), content]);
}

export const sequence = (...members: Uint8Array[]) => der(0x30, ...members);
export const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));
const TRUE = der(0x01, Buffer.of(0xff));
const NULL = der(0x05);
const ALGORITHMS = {
  ec: { sha1: sequence(oid('2a8648ce3d0401')), sha256: sequence(oid('2a8648ce3d040302')) },
  rsa: { sha1: sequence(oid('2a864886f70d010105'), NULL), sha256: sequence(oid('2a864886f70d01010b'), NULL) },
} as const;
const SHA_256 = sequence(oid('608648016503040201'), NULL);
/** Parameters that are left out mean SHA-1. */
const PSS_PARAMETERS = {
  sha1: sequence(),
  sha256: sequence(
    der(0xa0, SHA_256),
    der(0xa1, sequence(oid('2a864886f70d010108'), SHA_256)),
    der(0xa2, der(0x02, Buffer.of(32))),
  ),
} as const;
/** A distinguished name of one common name, as UTF8String unless another tag is given. */
export const name = (common: string, tag = 0x0c) =>
  sequence(der(0x31, sequence(oid('550403'), der(tag, Buffer.from(common)))));
const time = (date: Date) => der(0x18, Buffer.from(`${date.toISOString().replaceAll(/[-:T]|\.\d+/g, '')}`));

/** An extension under 2.5.29. */
export function extension(arc: number, critical: boolean, value: Uint8Array): Buffer {
  const id = oid(Buffer.of(0x55, 0x1d, arc).toString('hex'));
  return sequence(id, ...(critical ? [TRUE] : []), der(0x04, value));
}

function bits(set: readonly number[]): Buffer {
  return der(
    0x03,
    Buffer.of(
      0,
      set.reduce((byte, bit) => byte | (0x80 >> bit), 0),
    ),
  );
}

/** Name constraints of GeneralNames, such as `der(0x82, Buffer.from('example.com'))`. */
export function nameConstraints(permitted: readonly Uint8Array[], excluded: readonly Uint8Array[] = []): Buffer {
  const subtrees = (tag: number, bases: readonly Uint8Array[]) =>
    bases.length === 0 ? [] : [der(tag, ...bases.map((base) => sequence(base)))];
  return extension(30, true, sequence(...subtrees(0xa0, permitted), ...subtrees(0xa1, excluded)));
}

function extensions(parts: CertificateParts, keyId: Uint8Array): Uint8Array[] {
  const { authority = false, pathLength, usages, purposes, uris, strange, more = [], identifiers, issuedBy } = parts;
  if (parts.version === 1) return [...more];
  const length = pathLength === undefined ? [] : [der(0x02, Buffer.of(pathLength))];
  const purpose = (arc: number) => oid(`2b060105050703${arc.toString(16).padStart(2, '0')}`);
  const basic = parts.basicConstraints ?? extension(19, true, sequence(...(authority ? [TRUE] : []), ...length));
  const authorityKeyId = extension(35, false, sequence(der(0x80, issuedBy?.keyId ?? keyId)));
  return [
    ...(basic === 'none' ? [] : [basic]),
    ...(usages ? [extension(15, true, bits(usages))] : []),
    ...(purposes ? [extension(37, false, sequence(...purposes.map(purpose)))] : []),
    ...(uris ? [extension(17, false, sequence(...uris.map((uri) => der(0x86, Buffer.from(uri)))))] : []),
    ...(strange === undefined ? [] : [extension(strange, true, sequence())]),
    ...(identifiers ? [extension(14, false, der(0x04, keyId)), authorityKeyId] : []),
    ...more,
  ];
}

let serial = 0;

function newKeys(key: number | string | KeyPair = 'P-256') {
  if (typeof key === 'object') return key;
  return typeof key === 'number' ? newKeyPair({ type: 'rsa', bits: key }) : newKeyPair({ type: 'ec', curve: key });
}

/** A certificate of a new P-256 key; by itself unless somebody issues it. */
export function sampleCertificate(parts: CertificateParts = {}): SampleCertificate {
  const { publicKey, privateKey } = newKeys(parts.key);
  const subject = parts.subject ?? 'Somebody';
  serial += 1;
  const notBefore = parts.notBefore ?? new Date(Date.now() - 3_600_000);
  const notAfter = parts.notAfter ?? new Date(Date.now() + 86_400_000);
  const signer = parts.issuedBy?.privateKey ?? privateKey;
  const hash = parts.hash ?? 'sha256';
  const algorithm = parts.pss
    ? sequence(oid('2a864886f70d01010a'), PSS_PARAMETERS[hash])
    : ALGORITHMS[signer.asymmetricKeyType as 'ec' | 'rsa'][hash];
  const subjectName = parts.subjectName ?? name(subject);
  const keyId = Buffer.of(7, serial >> 8, serial & 255);
  const list = extensions(parts, keyId);
  const toBeSigned = sequence(
    ...(parts.version === 1 ? [] : [der(0xa0, der(0x02, Buffer.of(2)))]),
    der(0x02, parts.serial ?? Buffer.of(1, serial >> 8, serial & 255)),
    algorithm,
    parts.issuedBy?.name ?? subjectName,
    sequence(time(notBefore), time(notAfter)),
    subjectName,
    publicKey.export({ type: 'spki', format: 'der' }),
    ...(list.length === 0 ? [] : [der(0xa3, sequence(...list))]),
  );
  const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };
  const signature = sign(hash, toBeSigned, { key: signer, ...(parts.pss ? pss : {}) });
  const bytes = sequence(toBeSigned, algorithm, der(0x03, Buffer.of(0), signature));
  const lines = bytes.toString('base64').replaceAll(/(.{64})(?=.)/g, '$1\n');
  const pem = `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
  return { publicKey, privateKey, der: new Uint8Array(bytes), pem, subject, name: subjectName, keyId };
}

export const authority = (parts: CertificateParts = {}) =>
  sampleCertificate({ subject: 'An authority', authority: true, usages: [CERTIFICATE_SIGN], ...parts });
