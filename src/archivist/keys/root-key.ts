import { toBase64Url } from '../../core/bytes.js';
import { keyThumbprint } from '../../core/cose/cose-key.js';
import { type PublicJwk, publicJwk } from '../../core/cose/public-key.js';
import type { Signer } from '../../core/cose/signature.js';
import { evidenceSigner } from '../../platform/keys/evidence-signer.js';
import { fits } from '../../platform/keys/key-fit.js';
import type { KeyStore } from '../../platform/keys/key-store.js';

/** Creates a root key where the deployment's other private keys are kept. */
export async function createRootKey(keys: KeyStore): Promise<PublicJwk> {
  const { publicJwk: jwk } = await keys.generate('root');
  return publicJwk(jwk);
}

/** Returns the root key as a signer; undefined when its private half is kept elsewhere, which is safest. */
export async function openRootKey(keys: KeyStore, root: PublicJwk): Promise<Signer | undefined> {
  const jwk = root as unknown as Record<string, string>;
  const key = await keys.open({ role: 'root', keyId: toBase64Url(keyThumbprint(root)), publicJwk: jwk });
  return key && (await fits(jwk, key)) ? evidenceSigner(root, key) : undefined;
}
