import {
  createPrivateKey,
  createPublicKey,
  type ED25519KeyPairOptions,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto';

/** What a new key pair is of: a curve by its name in OpenSSL or RFC 7518, or an RSA modulus in bits. */
export type KeyPairKind =
  | { readonly type: 'ec'; readonly curve: string }
  | { readonly type: 'ed25519' }
  | { readonly type: 'rsa'; readonly bits: number };

// On Node 20 a generated key shares a lock with the job that generated it. Export as JWK holds the lock; if the job is
// garbage collected meanwhile, its end waits for the same lock on the same thread, and the process stands still for ever.
// A key that is read back from its bytes shares nothing with the job.
const ENCODED: ED25519KeyPairOptions<'der', 'der'> = {
  publicKeyEncoding: { type: 'spki', format: 'der' },
  privateKeyEncoding: { type: 'pkcs8', format: 'der' },
};

/** A new key pair, which may be exported at any time. Every key pair is made here. */
export function newKeyPair(kind: KeyPairKind): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } {
  const { publicKey, privateKey } = generate(kind);
  return {
    publicKey: createPublicKey({ key: publicKey, type: 'spki', format: 'der' }),
    privateKey: createPrivateKey({ key: privateKey, type: 'pkcs8', format: 'der' }),
  };
}

function generate(kind: KeyPairKind) {
  if (kind.type === 'ed25519') return generateKeyPairSync('ed25519', ENCODED);
  if (kind.type === 'rsa') return generateKeyPairSync('rsa', { modulusLength: kind.bits, ...ENCODED });
  return generateKeyPairSync('ec', { namedCurve: kind.curve, ...ENCODED });
}
