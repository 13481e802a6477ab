import type { PublicJwk } from '../../core/cose/public-key.js';
import type { KeyManifest, ManifestKey, ManifestLog } from '../../core/keys/key-manifest.js';
import { namedKey } from '../../core/keys/manifest-key.js';
import type { TrustedKeyManifest } from '../../core/keys/verify-key-manifests.js';

/** The differences between the next manifest and the one before. */
export interface ManifestChange {
  readonly keys?: readonly ManifestKey[];
  readonly root?: PublicJwk;
}

/** The state at the moment when a manifest is made. */
interface ManifestMoment {
  readonly atMs: number;
  readonly logs: readonly ManifestLog[];
  readonly issuer: string;
}

/** Returns the manifest that follows another one. Its time and the sizes of the logs never decrease. */
export function nextManifest(before: TrustedKeyManifest, change: ManifestChange, moment: ManifestMoment): KeyManifest {
  const { manifest, hash } = before;
  const heads = new Map(moment.logs.map((log) => [log.name, log]));
  const logs = manifest.logs.map((log) => {
    const head = heads.get(log.name);
    return head && head.size > log.size ? { ...log, size: head.size, root: head.root } : log;
  });
  return {
    ...manifest,
    number: manifest.number + 1,
    issuedAtMs: Math.max(moment.atMs, manifest.issuedAtMs),
    previous: hash,
    issuer: moment.issuer,
    keys: (change.keys ?? manifest.keys).map((key) => withRevocation(key, logs)),
    root: change.root ?? manifest.root,
    logs,
  };
}

/** A key that is revoked now is revoked at the current sizes of the logs. */
function withRevocation(key: ManifestKey, logs: readonly ManifestLog[]): ManifestKey {
  if (key.state !== 'revoked' || key.revokedAt) return key;
  return { ...key, revokedAt: Object.fromEntries(logs.map(({ name, size }) => [name, size])) };
}

/** Returns the keys with a new one, which does not sign yet. */
export function withPendingKey(
  { keys, number }: KeyManifest,
  role: string,
  jwk: Readonly<Record<string, string>>,
  atMs: number,
): ManifestKey[] {
  return [...keys, { role, ...namedKey(jwk), state: 'pending', validFromMs: atMs, since: number + 1 }];
}

/**
 * Returns the keys with the pending key of a role active, and the previous one retired or, if it was stolen, revoked.
 */
export function withPendingActive({ keys }: KeyManifest, role: string, atMs: number, stolen: boolean): ManifestKey[] {
  return keys.map((key) => {
    if (key.role !== role) return key;
    if (key.state === 'pending') return { ...key, state: 'active' };
    if (key.state !== 'active') return key;
    return { ...key, state: stolen ? 'revoked' : 'retired', validUntilMs: Math.max(atMs, key.validFromMs) };
  });
}

/** Returns the keys with a retired one revoked; its end is unchanged. */
export function withRevokedKey({ keys }: KeyManifest, keyId: string): ManifestKey[] {
  return keys.map((key) => (key.keyId === keyId && key.state === 'retired' ? { ...key, state: 'revoked' } : key));
}
