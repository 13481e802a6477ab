import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

/** A certificate of the tests' own making, and the key that it is of. */
export interface SampleCertificate {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
  readonly der: Uint8Array;
  readonly pem: string;
  readonly subject: string;
}

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
}

export const DIGITAL_SIGNATURE = 0;
export const KEY_ENCIPHERMENT = 2;
export const CERTIFICATE_SIGN = 5;

function der(tag: number, ...contents: Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const head = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.of(tag, ...head), content]);
}

const sequence = (...members: Uint8Array[]) => der(0x30, ...members);
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));
const TRUE = der(0x01, Buffer.of(0xff));
const ECDSA_SHA256 = sequence(oid('2a8648ce3d040302'));
const name = (common: string) => sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from(common)))));
const time = (date: Date) => der(0x18, Buffer.from(`${date.toISOString().replaceAll(/[-:T]|\.\d+/g, '')}`));

function extension(arc: number, critical: boolean, value: Uint8Array): Buffer {
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

function extensions(parts: CertificateParts): Buffer {
  const { authority = false, pathLength, usages, purposes, uris, strange } = parts;
  const length = pathLength === undefined ? [] : [der(0x02, Buffer.of(pathLength))];
  const purpose = (arc: number) => oid(`2b060105050703${arc.toString(16).padStart(2, '0')}`);
  return sequence(
    extension(19, true, sequence(...(authority ? [TRUE, ...length] : []))),
    ...(usages ? [extension(15, true, bits(usages))] : []),
    ...(purposes ? [extension(37, false, sequence(...purposes.map(purpose)))] : []),
    ...(uris ? [extension(17, false, sequence(...uris.map((uri) => der(0x86, Buffer.from(uri)))))] : []),
    ...(strange === undefined ? [] : [extension(strange, true, sequence())]),
  );
}

let serial = 0;

/** A certificate of a new P-256 key; by itself unless somebody issues it. */
export function sampleCertificate(parts: CertificateParts = {}): SampleCertificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const subject = parts.subject ?? 'Somebody';
  serial += 1;
  const notBefore = parts.notBefore ?? new Date(Date.now() - 60_000);
  const notAfter = parts.notAfter ?? new Date(Date.now() + 86_400_000);
  const toBeSigned = sequence(
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, Buffer.of(1, serial)),
    ECDSA_SHA256,
    name(parts.issuedBy?.subject ?? subject),
    sequence(time(notBefore), time(notAfter)),
    name(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, extensions(parts)),
  );
  const signature = sign('sha256', toBeSigned, parts.issuedBy?.privateKey ?? privateKey);
  const bytes = sequence(toBeSigned, ECDSA_SHA256, der(0x03, Buffer.of(0), signature));
  const lines = bytes.toString('base64').replaceAll(/(.{64})/g, '$1\n');
  const pem = `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
  return { publicKey, privateKey, der: new Uint8Array(bytes), pem, subject };
}

export const authority = (parts: CertificateParts = {}) =>
  sampleCertificate({ subject: 'An authority', authority: true, usages: [CERTIFICATE_SIGN], ...parts });
