import type { KeyObject } from 'node:crypto';
import { ObjectIdentifier } from 'asn1js';
import { contextTag, type DerElement, inside, objectIdentifier, sequence } from './der.js';

/**
 * The least is OpenSSL's level 2: 112 bits, which no signature over SHA-1 has. Larger keys and huge exponents make each
 * check slow: one of 3072 bits with an exponent as long takes 90 times as long.
 */
const RSA = { leastBits: 2048, mostBits: 8192, mostExponent: 2n ** 32n } as const;
const CURVES = ['prime256v1', 'secp384r1', 'secp521r1', 'secp256k1'];
const EDWARDS = ['ed25519', 'ed448'];

const RSA_PSS = '1.2.840.113549.1.1.10';
const EC_KEY = '1.2.840.10045.2.1';
/** ECDSA and RSA with SHA-2, Ed25519 and Ed448. */
const SIGNATURES = [
  ...[2, 3, 4].map((arc) => `1.2.840.10045.4.3.${arc}`),
  ...[11, 12, 13].map((arc) => `1.2.840.113549.1.1.${arc}`),
  '1.3.101.112',
  '1.3.101.113',
];
const SHA2 = [1, 2, 3].map((arc) => `2.16.840.1.101.3.4.2.${arc}`);

/** Whether the kind and size of the key are accepted for signatures; a curve must be a named one. */
export function isAcceptedKey(key: KeyObject, publicKeyInfo: DerElement | undefined): boolean {
  const { asymmetricKeyType: kind = '', asymmetricKeyDetails: details } = key;
  if (kind === 'rsa' || kind === 'rsa-pss') {
    const { modulusLength: bits = 0, publicExponent: exponent = RSA.mostExponent } = details ?? {};
    return bits >= RSA.leastBits && bits <= RSA.mostBits && exponent < RSA.mostExponent;
  }
  if (kind !== 'ec') return EDWARDS.includes(kind);
  const [algorithm, parameters] = sequence(sequence(publicKeyInfo)[0]);
  const isNamed = objectIdentifier(algorithm) === EC_KEY && parameters instanceof ObjectIdentifier;
  return isNamed && CURVES.includes(details?.namedCurve ?? '');
}

/** Whether a signature algorithm uses a hash without known collisions. */
export function isStrongSignature(algorithm: DerElement | undefined): boolean {
  const [id, parameters] = sequence(algorithm);
  const name = objectIdentifier(id);
  if (name !== RSA_PSS) return SIGNATURES.includes(name);
  // Without a hash in its parameters, it is SHA-1 (RFC 4055).
  const hash = parameters && sequence(parameters).find((member) => contextTag(member) === 0);
  return hash !== undefined && SHA2.includes(objectIdentifier(sequence(inside(hash)[0])[0]));
}
