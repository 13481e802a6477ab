import type { KeyManifest, ManifestKey, ManifestLog } from '../../../src/core/keys/key-manifest.js';
import { namedKey } from '../../../src/core/keys/manifest-key.js';
import { sampleRoot } from './sample-manifests.js';

const HOUR = 3_600_000;
const jwk = (scalar: number) => sampleRoot(scalar).publicKey as unknown as Record<string, string>;

/** Replaces the active key of a role by one that is listed from this manifest on. */
function rotated(before: KeyManifest, role: string, stolen: boolean, by: number): readonly ManifestKey[] {
  const validFromMs = before.issuedAtMs + HOUR;
  const revokedAt = Object.fromEntries(before.logs.map(({ name, size }) => [name, size]));
  const ended = before.keys.map((key): ManifestKey => {
    if (key.role !== role || key.state !== 'active') return key;
    const end = { ...key, validUntilMs: validFromMs };
    return stolen ? { ...end, state: 'revoked', revokedAt } : { ...end, state: 'retired' };
  });
  const since = before.number + 1;
  return [...ended, { role, ...namedKey(jwk(by)), state: 'active', validFromMs, since }];
}

/** A manifest after this one, with one key of the samples retired, one stolen and one pending, and another size of a log. */
export function withEndedKeys(before: KeyManifest, roles: { retired: string; revoked: string }): KeyManifest {
  const retired = { ...before, keys: rotated(before, roles.retired, false, 41) };
  const keys = rotated(retired, roles.revoked, true, 42);
  const start = { validFromMs: before.issuedAtMs + HOUR, since: before.number + 1 };
  const pending: ManifestKey = { role: roles.retired, ...namedKey(jwk(43)), state: 'pending', ...start };
  const logs = before.logs.map((log) => ({ ...log, size: log.size + 1n }));
  const issuedAtMs = before.issuedAtMs + HOUR;
  return { ...before, number: before.number + 1, issuedAtMs, keys: [...keys, pending], logs };
}

interface Step {
  readonly step: string;
  readonly to: Pick<KeyManifest, 'keys' | 'logs'>;
}

/** Steps from such a manifest to a later one that agree with it, and steps that do not. */
export function stepsFrom(before: KeyManifest): {
  readonly good: readonly Step[];
  readonly contradicting: readonly Step[];
} {
  const { keys } = before;
  const logs = before.logs.map((log) => ({ ...log, size: log.size + 5n }));
  const inState = (state: ManifestKey['state']) => keys.find((key) => key.state === state)!;
  const [retired, revoked, pending] = [inState('retired'), inState('revoked'), inState('pending')];
  const { role } = retired;
  const put = (...changed: ManifestKey[]) => keys.map((key) => changed.find(({ keyId }) => keyId === key.keyId) ?? key);
  const open = ({ validUntilMs: _, revokedAt: __, ...key }: ManifestKey) => key;
  const ended = (of: string): ManifestKey => {
    const key = keys.find((each) => each.role === of && each.state === 'active')!;
    return { ...key, state: 'retired', validUntilMs: before.issuedAtMs + HOUR };
  };
  const key = (step: string, changed: readonly ManifestKey[]): Step => ({ step, to: { keys: changed, logs } });
  const log = (step: string, change: (first: ManifestLog) => readonly ManifestLog[]): Step => {
    const [first, ...rest] = logs;
    return { step, to: { keys, logs: [...change(first!), ...rest] } };
  };
  const sizes = Object.fromEntries(logs.map(({ name, size }) => [name, size]));
  const unlisted = { role, ...namedKey(jwk(44)), state: 'pending' as const, validFromMs: before.issuedAtMs };
  return {
    good: [
      key('nothing changes but the sizes of logs', keys),
      key('a retired key is revoked', put({ ...retired, state: 'revoked', revokedAt: sizes })),
      key('a retired key is revoked from an earlier time on', [
        ...put({ ...retired, state: 'revoked', validUntilMs: retired.validUntilMs! - 1, revokedAt: sizes }),
      ]),
      key('a pending key becomes active, the active one retired', put({ ...pending, state: 'active' }, ended(role))),
      key('a new key is listed', [...keys, { ...unlisted, since: before.number + 1 }]),
    ],
    contradicting: [
      key('a revoked key is retired', put({ ...open(revoked), state: 'retired', validUntilMs: revoked.validUntilMs! })),
      key('a revoked key is active', put({ ...open(revoked), state: 'active' }, ended(revoked.role))),
      key('a revoked key is pending', put({ ...open(revoked), state: 'pending' })),
      key('a retired key is active', put({ ...open(retired), state: 'active' }, ended(role))),
      key('a retired key is pending', put({ ...open(retired), state: 'pending' })),
      key('an active key is pending', put({ ...open(ended(role)), state: 'pending' }, { ...pending, state: 'active' })),
      key('a retired key ends later', put({ ...retired, validUntilMs: retired.validUntilMs! + 1 })),
      key('a revoked key ends later', put({ ...revoked, validUntilMs: revoked.validUntilMs! + 1 })),
      key('a retired key is revoked from a later time on', [
        ...put({ ...retired, state: 'revoked', validUntilMs: retired.validUntilMs! + 1, revokedAt: sizes }),
      ]),
      key('a revoked key is revoked at larger sizes', put({ ...revoked, revokedAt: sizes })),
      key('a revoked key is revoked in fewer logs', put({ ...revoked, revokedAt: {} })),
      key('a key begins earlier', put({ ...retired, validFromMs: retired.validFromMs - 1 })),
      key('a key has another role', put({ ...retired, role: revoked.role })),
      key('a key was first listed by another manifest', put({ ...pending, since: pending.since - 1 })),
      key(
        'a key is removed',
        keys.filter(({ keyId }) => keyId !== revoked.keyId),
      ),
      key('a new key says that it was listed before', [...keys, { ...unlisted, since: before.number }]),
      log('a log is of another kind', (first) => [{ ...first, kind: 'keys' }]),
      log('a log had another size at the first manifest', (first) => [{ ...first, firstSize: first.firstSize + 1n }]),
      log('a log is smaller', (first) => [{ ...first, size: first.size - 6n }]),
    ],
  };
}
