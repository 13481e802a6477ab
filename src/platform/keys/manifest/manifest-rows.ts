import { type KeyManifest, MANIFEST_KEY_STATES, type ManifestKey } from '../../../core/keys/key-manifest.js';
import { DEPLOYMENT_ROLES, type KeyRole } from '../key-role.js';
import type { SigningKeyRow } from '../signing-key-store.js';

/** Roles whose keys a manifest lists. */
export function isManifestRole(role: string): role is (typeof DEPLOYMENT_ROLES)[number] {
  return DEPLOYMENT_ROLES.some((each) => each === role);
}

function rowOf(key: ManifestKey): SigningKeyRow {
  return {
    keyId: key.keyId,
    role: key.role as KeyRole,
    algorithm: key.algorithm,
    publicJwk: { ...key.jwk },
    state: key.state,
    validFrom: new Date(key.validFromMs),
    validUntil: key.validUntilMs === undefined ? null : new Date(key.validUntilMs),
  };
}

/**
 * The keys of a manifest as rows: by state in the order of `MANIFEST_KEY_STATES`, which begins with active, then the
 * newest first.
 */
export function manifestRows({ keys }: KeyManifest): SigningKeyRow[] {
  const order = (state: SigningKeyRow['state']) => (state === 'active' ? -1 : MANIFEST_KEY_STATES.indexOf(state));
  return keys
    .map(rowOf)
    .sort(
      (left, right) => order(left.state) - order(right.state) || right.validFrom.getTime() - left.validFrom.getTime(),
    );
}

function membersOf(row: SigningKeyRow): string {
  const { publicJwk: jwk } = row;
  const members = Object.entries(jwk).sort(([left], [right]) => (left < right ? -1 : 1));
  return JSON.stringify([row.role, row.algorithm, members]);
}

function differenceOf(row: SigningKeyRow, listed: SigningKeyRow): string | undefined {
  const what = `the row of key ${row.keyId}`;
  const times = (each: SigningKeyRow) => [each.validFrom.getTime(), each.validUntil?.getTime()].join();
  if (membersOf(row) !== membersOf(listed))
    return `${what} has a different role, algorithm or public key than the manifest`;
  if (row.state !== listed.state) return `${what} says ${row.state}, the manifest says ${listed.state}`;
  if (times(row) !== times(listed)) return `${what} has a different period of validity than the manifest`;
  return undefined;
}

/**
 * Compares the rows of `signing_key` with the manifest and returns one sentence per difference. The rows are only a
 * copy: in every conflict the manifest is right.
 */
export function manifestRowFaults(manifest: KeyManifest, rows: readonly SigningKeyRow[]): string[] {
  const ours = rows.filter(({ role }) => isManifestRole(role));
  const listed = new Map(manifestRows(manifest).map((row) => [row.keyId, row]));
  const stored = new Set(ours.map(({ keyId }) => keyId));
  const faults = ours.flatMap((row) => {
    const known = listed.get(row.keyId);
    const fault = known
      ? differenceOf(row, known)
      : `the row of key ${row.keyId} (${row.role}, ${row.state}) is in no key manifest: it is not used; remove it, and find out who wrote it`;
    return fault === undefined ? [] : [fault];
  });
  const lost = [...listed.keys()].filter((keyId) => !stored.has(keyId));
  return [...faults, ...lost.map((keyId) => `the row of key ${keyId} of the key manifest is missing`)];
}
