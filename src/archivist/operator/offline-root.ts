import { toBase64 } from '../../core/bytes.js';
import { publicJwk } from '../../core/cose/public-key.js';
import { VerificationError } from '../../core/errors.js';
import type { KeyManifest, ManifestKey } from '../../core/keys/key-manifest.js';
import { stepFault } from '../../core/keys/manifest-steps.js';
import { readKeyManifest } from '../../core/keys/read-key-manifest.js';
import { ApiError } from '../../platform/errors.js';
import { fits } from '../../platform/keys/key-fit.js';
import type { DEPLOYMENT_ROLES, KeyRole } from '../../platform/keys/key-role.js';
import { pendingReason } from '../keys/activate-keys.js';
import { draftManifest, enterManifest } from '../keys/issue-manifest.js';
import { type ManifestChange, withPendingActive, withPendingKey, withRevokedKey } from '../keys/next-manifest.js';
import { type KeyOperatorDeps, type ShownManifest, shownManifest } from './manage-keys.js';

type Role = (typeof DEPLOYMENT_ROLES)[number];

/** The change that an operator requests; `renew` repeats the current state under a new number and date. */
interface ProposedChange {
  readonly change: 'rotate' | 'activate' | 'revoke' | 'root' | 'renew';
  /** For rotate and activate. */
  readonly role?: Role | undefined;
  /** For activate: the previous key was stolen. */
  readonly stolen: boolean;
  /** For revoke. */
  readonly key_id?: string | undefined;
  /** For root: the public half of the new root key. */
  readonly root?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Makes the next manifest unsigned, for an offline root key. A new key is created at once, but has no effect until the
 * signed manifest is submitted.
 * @throws {ApiError} bad_request, not_found; conflict when a key may not become active yet
 */
export async function proposeManifest(
  deps: KeyOperatorDeps,
  proposed: ProposedChange,
): Promise<{ number: number; manifest: string }> {
  await deps.adoptNow();
  const { current } = deps.manifests;
  const draft = await draftManifest(deps, current, await changeOf(deps, current.manifest, proposed));
  return { number: readKeyManifest(draft).manifest.number, manifest: toBase64(draft) };
}

async function changeOf(
  deps: KeyOperatorDeps,
  manifest: KeyManifest,
  proposed: ProposedChange,
): Promise<ManifestChange> {
  const atMs = deps.clock.now();
  switch (proposed.change) {
    case 'rotate': {
      const role = given(proposed.role, 'role');
      if (hasPending(manifest, role))
        throw new ApiError('conflict', `The role ${role} has a pending key already: propose to activate it.`);
      const { publicJwk: jwk } = await deps.keys.generate(role);
      return { keys: withPendingKey(manifest, role, jwk, atMs) };
    }
    case 'activate': {
      const role = given(proposed.role, 'role');
      if (!hasPending(manifest, role))
        throw new ApiError('not_found', `The role ${role} has no pending key: propose to rotate it first.`);
      const reason = await pendingReason(deps);
      if (reason !== undefined) throw new ApiError('conflict', `The key may not sign yet: ${reason}. Try again.`);
      return { keys: withPendingActive(manifest, role, atMs, proposed.stolen) };
    }
    case 'revoke': {
      const wanted = given(proposed.key_id, 'key_id');
      if (!manifest.keys.some(({ keyId, state }) => keyId === wanted && state === 'retired'))
        throw new ApiError('not_found', 'There is no retired key of this id: list the keys.');
      return { keys: withRevokedKey(manifest, wanted) };
    }
    case 'root':
      return { root: rootOf(given(proposed.root, 'root')) };
    case 'renew':
      return {};
  }
}

function hasPending({ keys }: KeyManifest, wanted: Role): boolean {
  return keys.some(({ role, state }) => role === wanted && state === 'pending');
}

function given<Value>(value: Value | undefined, name: string): Value {
  if (value === undefined) throw new ApiError('bad_request', `${name}: is required for this change.`);
  return value;
}

function rootOf(jwk: Readonly<Record<string, unknown>>) {
  try {
    const { kid: _kid, alg: _alg, ...root } = publicJwk(jwk);
    if (root.kty !== 'RSA') return root;
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
  }
  throw new ApiError('bad_request', 'root: must be the JWK of an EC or Ed25519 public key.');
}

/**
 * Accepts a manifest that the root key has signed. Its changes must be ones that this service can fulfil: the private
 * half of a new key must be here, and an active key must have been pending.
 * @throws {ApiError} bad_request when it is not signed by the root key, does not follow, or contains other changes;
 *   conflict
 */
export async function publishManifest(deps: KeyOperatorDeps, base64: string): Promise<ShownManifest> {
  await deps.adoptNow();
  // Accepts a text that was cut off: the reader of manifests says what is wrong with its bytes.
  const bytes = new Uint8Array(Buffer.from(base64, 'base64'));
  try {
    const before = deps.manifests.current.manifest;
    const { manifest } = readKeyManifest(bytes);
    if (manifest.number !== before.number + 1)
      throw new ApiError(
        'bad_request',
        `manifest: has the number ${manifest.number}, and the newest one has ${before.number}. If it is not published yet, propose the change again, then sign and publish the new proposal.`,
      );
    const fault = stepFault(manifest, before);
    if (fault !== undefined) throw new ApiError('bad_request', `manifest: ${fault}.`);
    for (const key of manifest.keys) await checkKey(deps, before, key);
    const revokes = (key: ManifestKey) =>
      key.role === 'issuer' &&
      key.state === 'revoked' &&
      before.keys.some(({ keyId, state }) => keyId === key.keyId && state !== 'revoked');
    if (manifest.keys.some((key) => activates(before, key))) {
      const reason = await pendingReason(deps);
      if (reason !== undefined) throw new ApiError('conflict', `The key may not sign yet: ${reason}. Try again.`);
    }
    await enterManifest(deps, bytes);
    if (manifest.keys.some(revokes)) await deps.database.inTransaction('system', deps.recertify);
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    throw new ApiError('bad_request', `manifest: ${error.message}.`);
  }
  const made = await shownManifest(deps);
  deps.logger.warn({ number: made.number }, 'a key manifest was published');
  return made;
}

const NEXT_STATES: Readonly<Record<ManifestKey['state'], readonly ManifestKey['state'][]>> = {
  pending: ['pending', 'active'],
  active: ['active', 'retired', 'revoked'],
  retired: ['retired', 'revoked'],
  revoked: ['revoked'],
};

function activates({ keys }: KeyManifest, { keyId, state }: ManifestKey): boolean {
  return state === 'active' && keys.some((key) => key.keyId === keyId && key.state === 'pending');
}

async function checkKey(deps: KeyOperatorDeps, { keys }: KeyManifest, key: ManifestKey): Promise<void> {
  const refuse = (what: string) => new ApiError('bad_request', `manifest: key ${key.keyId} ${what}.`);
  const before = keys.find(({ keyId }) => keyId === key.keyId);
  if (before) {
    if (!NEXT_STATES[before.state].includes(key.state)) throw refuse(`cannot become ${key.state}`);
    return;
  }
  if (key.state !== 'pending') throw refuse('is new and not pending');
  const jwk = { ...key.jwk };
  const held = await deps.keys
    .open({ role: key.role as KeyRole, keyId: key.keyId, publicJwk: jwk })
    .catch(() => undefined);
  if (!held || !(await fits(jwk, held))) throw refuse('has no private half here');
}
