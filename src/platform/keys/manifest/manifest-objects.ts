import type { VerifySignature } from '../../../core/cose/signature.js';
import { VerificationError } from '../../../core/errors.js';
import { verifyKeptKeyManifest } from '../../../core/keys/verify-key-manifests.js';
import type { ObjectStore } from '../../object-store.js';

/**
 * Key of a manifest in the object store, by its number. Create-only, like numbered seals: if the database is restored
 * to an older manifest, the next number reveals it.
 * @param subject the keys log's name
 */
export function manifestObjectKey(subject: string, number: number): string {
  return `key-manifests/${subject.replace(/^log\//, '')}/${number.toString().padStart(16, '0')}`;
}

export function keptManifest(store: ObjectStore, subject: string, number: number): Promise<Uint8Array | undefined> {
  return store.get(manifestObjectKey(subject, number));
}

/**
 * Returns what an operator must know about an object that is not the manifest which belongs there, if it is damaged; undefined
 * if it is a whole manifest, which then some root key has signed.
 */
export async function manifestDamage(
  key: string,
  bytes: Uint8Array,
  verifySignature: VerifySignature,
): Promise<string | undefined> {
  try {
    await verifyKeptKeyManifest(bytes, verifySignature);
    return undefined;
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    return `${key} in the object store is damaged (${error.message}): restore it from a copy of the object store (docs/operate/keys.md#a-key-manifest-in-the-object-store-is-damaged)`;
  }
}

/** @throws {Error} with a message for the operator, if a different manifest, or a damaged one, has this number there */
export async function keepManifest(
  store: ObjectStore,
  { subject, number }: { readonly subject: string; readonly number: number },
  bytes: Uint8Array,
  verifySignature: VerifySignature,
): Promise<void> {
  const key = manifestObjectKey(subject, number);
  if ((await store.putNew(key, bytes)) !== 'different') return;
  const there = await store.get(key);
  const damage = there && (await manifestDamage(key, there, verifySignature));
  throw new Error(
    damage ??
      `the object store has another key manifest ${number}: the root key has signed two, or one of both is forged`,
  );
}
