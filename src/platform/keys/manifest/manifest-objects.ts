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

/** @throws {Error} if a different manifest has this number there */
export async function keepManifest(
  store: ObjectStore,
  { subject, number }: { readonly subject: string; readonly number: number },
  bytes: Uint8Array,
): Promise<void> {
  if ((await store.putNew(manifestObjectKey(subject, number), bytes)) !== 'different') return;
  throw new Error(
    `the object store has another key manifest ${number}: the root key has signed two, or one of both is forged`,
  );
}
