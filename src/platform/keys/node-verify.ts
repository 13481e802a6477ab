import { createPublicKey, type JsonWebKey, type KeyObject, verify } from 'node:crypto';
import { Algorithm } from '../../core/cose/labels.js';
import type { PublicJwk } from '../../core/cose/public-key.js';
import type { VerifySignature } from '../../core/cose/signature.js';

const HASHES: Readonly<Record<number, { crv: PublicJwk['crv']; hash: string | null }>> = {
  [Algorithm.es256]: { crv: 'P-256', hash: 'sha256' },
  [Algorithm.es384]: { crv: 'P-384', hash: 'sha384' },
  [Algorithm.es512]: { crv: 'P-521', hash: 'sha512' },
  [Algorithm.eddsa]: { crv: 'Ed25519', hash: null },
};

/** Importing a key costs as much as a check with it, and a verifier has few keys for many signatures. */
const imported = new WeakMap<PublicJwk, KeyObject>();

function importKey(jwk: PublicJwk): KeyObject | undefined {
  const known = imported.get(jwk);
  if (known) return known;
  try {
    const key = createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' });
    imported.set(jwk, key);
    return key;
  } catch {
    return undefined; // the point is not on its curve
  }
}

/** Checks signatures with OpenSSL: answers what Web Crypto answers, sooner. */
export const nodeVerify: VerifySignature = async (jwk, alg, message, signature) => {
  const rules = HASHES[alg];
  const key = rules?.crv === jwk.crv ? importKey(jwk) : undefined;
  if (!rules || !key) return false;
  return verify(rules.hash, message, jwk.kty === 'OKP' ? key : { key, dsaEncoding: 'ieee-p1363' }, signature);
};
