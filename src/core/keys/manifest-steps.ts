import { type KeyManifest, MANIFEST_KEY_STATES, type ManifestKey, type ManifestLog } from './key-manifest.js';

const rank = ({ state }: ManifestKey): number => MANIFEST_KEY_STATES.indexOf(state);

function haveSameSizes(one: ManifestKey['revokedAt'] = {}, other: ManifestKey['revokedAt'] = {}): boolean {
  return Object.keys({ ...one, ...other }).every((name) => one[name] === other[name]);
}

function keyFault(key: ManifestKey | undefined, before: ManifestKey): string | undefined {
  if (!key) return 'is missing; keys are never removed';
  if (key.role !== before.role || key.validFromMs !== before.validFromMs || key.since !== before.since)
    return 'has another role or another beginning than before';
  if (rank(key) < rank(before)) return `cannot become ${key.state}: it was ${before.state}`;
  if (before.validUntilMs !== undefined && key.validUntilMs! > before.validUntilMs)
    return 'has a later end than before';
  if (before.state === 'revoked' && !haveSameSizes(key.revokedAt, before.revokedAt))
    return 'was revoked at other sizes';
  return undefined;
}

function logFault(log: ManifestLog | undefined, before: ManifestLog): string | undefined {
  if (!log) return 'is missing; logs are never removed';
  if (log.kind !== before.kind || log.firstSize !== before.firstSize)
    return 'has another kind, or another size at manifest 1, than before';
  return log.size < before.size ? 'was larger before' : undefined;
}

/**
 * Returns why a manifest cannot come after another one of the same history, whatever is between them; undefined if it
 * can. Keys and logs are never removed, a key never goes back to an earlier state, and what was said about its beginning,
 * its end and its revocation stays: otherwise a stolen key could be made good again.
 */
export function stepFault(
  later: Pick<KeyManifest, 'keys' | 'logs'>,
  earlier: Pick<KeyManifest, 'keys' | 'logs' | 'number'>,
): string | undefined {
  const keys = new Map(later.keys.map((key) => [key.keyId, key]));
  for (const before of earlier.keys) {
    const fault = keyFault(keys.get(before.keyId), before);
    if (fault !== undefined) return `key ${before.keyId} ${fault}`;
    keys.delete(before.keyId);
  }
  for (const { keyId, since } of keys.values())
    if (since <= earlier.number) return `key ${keyId} was not listed before, although it names manifest ${since}`;
  const logs = new Map(later.logs.map((log) => [log.name, log]));
  for (const before of earlier.logs) {
    const fault = logFault(logs.get(before.name), before);
    if (fault !== undefined) return `log ${before.name} ${fault}`;
  }
  return undefined;
}
