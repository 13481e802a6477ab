import { webcrypto } from 'node:crypto';
import type * as X509 from '@peculiar/x509';

/** The package asks for metadata of decorators, and only of its own. */
function knowMetadata(): void {
  const kept = new WeakMap<object, Map<unknown, unknown>>();
  const of = (target: object) => kept.get(target) ?? kept.set(target, new Map()).get(target)!;
  Object.assign(Reflect, {
    getMetadata: (key: unknown, target: object) => of(target).get(key),
    getOwnMetadata: (key: unknown, target: object) => of(target).get(key),
    hasOwnMetadata: (key: unknown, target: object) => of(target).has(key),
    defineMetadata: (key: unknown, value: unknown, target: object) => of(target).set(key, value),
  });
}

if (!('getMetadata' in Reflect)) knowMetadata();
const x509: typeof X509 = await import('@peculiar/x509');
x509.cryptoProvider.set(webcrypto as never);

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const DAY = 24 * 60 * 60 * 1000;
export const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';

/** A certificate with its key, which can issue others. */
export interface Identity {
  readonly pem: string;
  readonly keyPem: string;
  readonly name: string;
  readonly keys: webcrypto.CryptoKeyPair;
}

export interface Wanted {
  readonly name: string;
  /** Itself when not given. */
  readonly issuer?: Identity;
  readonly ca?: boolean;
  readonly pathLength?: number;
  /** Extended key usages; when not given, of a client unless it is an authority. */
  readonly usages?: readonly string[];
  readonly notBefore?: Date;
  readonly notAfter?: Date;
  readonly extensions?: X509.Extension[];
}

let serial = 1;

/** Makes a certificate as it is wanted, right or wrong. */
export async function makeCertificate(wanted: Wanted): Promise<Identity> {
  const keys = (await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])) as webcrypto.CryptoKeyPair;
  const { name, issuer, ca = false, pathLength, usages = ca ? [] : [CLIENT_AUTH] } = wanted;
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: (serial++).toString(16).padStart(4, '0'),
    subject: name,
    issuer: issuer?.name ?? name,
    notBefore: wanted.notBefore ?? new Date(Date.now() - DAY),
    notAfter: wanted.notAfter ?? new Date(Date.now() + DAY),
    signingAlgorithm: ALGORITHM,
    publicKey: keys.publicKey as never,
    signingKey: (issuer?.keys ?? keys).privateKey as never,
    extensions: [
      new x509.BasicConstraintsExtension(ca, pathLength, true),
      ...(ca ? [new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true)] : []),
      ...(usages.length > 0 ? [new x509.ExtendedKeyUsageExtension([...usages])] : []),
      ...(wanted.extensions ?? []),
    ],
  });
  return { pem: certificate.toString('pem'), keyPem: await privatePem(keys), name, keys };
}

/** An extension of an object identifier that nobody knows. */
export function unknownExtension(critical: boolean): X509.Extension {
  return new x509.Extension('1.2.3.4.5', critical, new Uint8Array([5, 0]));
}

async function privatePem({ privateKey }: webcrypto.CryptoKeyPair): Promise<string> {
  const pkcs8 = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', privateKey)).toString('base64');
  return `-----BEGIN PRIVATE KEY-----\n${pkcs8}\n-----END PRIVATE KEY-----\n`;
}
