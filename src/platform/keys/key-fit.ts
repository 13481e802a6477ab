import { createPublicKey, type JsonWebKey, verify } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { concatBytes, fromBase64, utf8 } from '../../core/bytes.js';
import { sha256 } from '../../core/sha256.js';
import type { PrivateKey } from './key-store.js';

/** Names its purpose, so that a signature over it can never pass as a statement, seal or token. */
const PROBE = sha256(utf8('vcon-archivist asks whether this private half belongs to its public one'));

/** Whether a signature by the private half verifies with the public half. @throws if it cannot sign */
export async function fits(jwk: Readonly<Record<string, string>>, key: PrivateKey): Promise<boolean> {
  if (key.signMessage) return verifiesMessage(jwk, PROBE, await key.signMessage(PROBE));
  return verifiesAs(jwk, PROBE, await key.sign(PROBE));
}

/** Verifies a signature in the format of `PrivateKey.sign`, by any kind of key. */
export function verifiesAs(jwk: Readonly<Record<string, string>>, message: Uint8Array, signature: Uint8Array): boolean {
  if (jwk['crv'] === 'secp256k1') {
    const point = concatBytes(Uint8Array.of(4), fromBase64(jwk['x']!), fromBase64(jwk['y']!));
    return signature.length === 65 && secp256k1.verify(signature.subarray(1), message, point, { prehash: false });
  }
  return verifiesMessage(jwk, message, signature);
}

function verifiesMessage(jwk: Readonly<Record<string, string>>, message: Uint8Array, signature: Uint8Array): boolean {
  const publicKey = createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' });
  const hash = jwk['kty'] === 'OKP' ? null : 'sha256';
  return verify(hash, message, { key: publicKey, dsaEncoding: 'ieee-p1363' }, signature);
}
