import { equalBytes } from '../bytes.js';
import { keyThumbprint } from '../cose/cose-key.js';
import { Header } from '../cose/labels.js';
import { encodeSign1, signatureInput } from '../cose/sign1.js';
import type { Signer } from '../cose/signature.js';
import { VerificationError } from '../errors.js';
import { type KeyManifest, unsignedKeyManifest } from './key-manifest.js';
import { readKeyManifest } from './read-key-manifest.js';

/**
 * Signs such a manifest. Resolves with the tagged COSE_Sign1, as the keys log holds it.
 * @throws {VerificationError} `root_not_trusted` if it needs the signature of another key; `malformed`
 */
export async function completeKeyManifest(unsigned: Uint8Array, signer: Signer): Promise<Uint8Array> {
  const { sign1, signer: asked } = readKeyManifest(unsigned);
  if (!equalBytes(keyThumbprint(asked), signer.kid) || sign1.protectedHeader.get(Header.alg) !== signer.alg)
    throw new VerificationError('root_not_trusted', 'the manifest needs the signature of another root key');
  const signature = await signer.sign(signatureInput(sign1.protectedBytes, sign1.payload!));
  return encodeSign1({ ...sign1, unprotectedHeader: new Map(), signature });
}

/** Signs a manifest with a root key. Resolves with the tagged COSE_Sign1, as the keys log holds it. */
export function signKeyManifest(manifest: KeyManifest, signer: Signer): Promise<Uint8Array> {
  return completeKeyManifest(unsignedKeyManifest(manifest, signer), signer);
}
