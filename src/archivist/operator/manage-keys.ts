import { toBase64Url } from '../../core/bytes.js';
import { keyThumbprint } from '../../core/cose/cose-key.js';
import type { ManifestKeyState } from '../../core/keys/key-manifest.js';
import { rootFingerprint } from '../../core/keys/root-fingerprint.js';
import type { TrustedKeyManifest } from '../../core/keys/verify-key-manifests.js';
import { recordSecurityEvent, type SecurityDeps } from '../../iam/security/record-security-event.js';
import { OPERATOR } from '../../iam/security/security-event.js';
import { listOrganisationIds } from '../../iam/tenancies/tenancy-store.js';
import { ApiError } from '../../platform/errors.js';
import { DEPLOYMENT_ROLES } from '../../platform/keys/key-role.js';
import type { PrivateKey } from '../../platform/keys/key-store.js';
import { manifestRows } from '../../platform/keys/manifest/manifest-rows.js';
import type { SigningKeyRow } from '../../platform/keys/signing-key-store.js';
import type { Tx } from '../../platform/postgres/database.js';
import { untilKnownEverywhere } from '../keys/activate-keys.js';
import { type IssueDeps, issueManifest } from '../keys/issue-manifest.js';
import { withPendingActive, withPendingKey, withRevokedKey } from '../keys/next-manifest.js';
import { createRootKey, openRootKey } from '../keys/root-key.js';

export interface KeyOperatorDeps extends SecurityDeps, IssueDeps {
  /** Problems with the stored copies of the keys, as sentences. */
  readonly faults: () => readonly string[];
  /** Certifies the keys of tenancies again, if a revoked issuer key signed their certificates. */
  readonly recertify: (tx: Tx) => Promise<unknown>;
}

/** Roles whose keys an operator may rotate. */
export const ROTATABLE_ROLES = DEPLOYMENT_ROLES;
type RotatableRole = (typeof DEPLOYMENT_ROLES)[number];

/** A key as the operator sees it. */
interface ShownKey {
  readonly key_id: string;
  readonly role: string;
  readonly algorithm: string;
  readonly state: ManifestKeyState;
  /** Where the private key is; empty when this process cannot use it. */
  readonly private_half: PrivateKey['place'] | '';
  readonly valid_from: string;
  readonly valid_until: string;
}

/** The newest manifest as the operator sees it. */
export interface ShownManifest {
  readonly number: number;
  readonly issued_at: string;
  readonly root_fingerprint: string;
  readonly root_private_half: PrivateKey['place'] | '';
  readonly keys_log: string;
}

async function shown({ keys }: KeyOperatorDeps, row: SigningKeyRow): Promise<ShownKey> {
  const key = await keys.open({ ...row, role: row.role as RotatableRole }).catch(() => undefined);
  return {
    key_id: row.keyId,
    role: row.role,
    algorithm: row.algorithm,
    state: row.state,
    private_half: key?.place ?? '',
    valid_from: row.validFrom.toISOString(),
    valid_until: row.validUntil?.toISOString() ?? '',
  };
}

/** Lists the deployment's keys from the newest manifest, including retired and revoked ones, without secrets. */
export function listKeys(deps: KeyOperatorDeps): Promise<ShownKey[]> {
  return Promise.all(manifestRows(deps.manifests.current.manifest).map((row) => shown(deps, row)));
}

/** The manifest in force, and the fingerprint that a verifier needs. */
export async function shownManifest({ manifests, keys }: KeyOperatorDeps): Promise<ShownManifest> {
  const { number, issuedAtMs, root, subject } = manifests.current.manifest;
  const jwk = root as unknown as Record<string, string>;
  const keyId = toBase64Url(keyThumbprint(root));
  const held = await keys.open({ role: 'root', keyId, publicJwk: jwk }).catch(() => undefined);
  return {
    number,
    issued_at: new Date(issuedAtMs).toISOString(),
    root_fingerprint: rootFingerprint(keyThumbprint(root)),
    root_private_half: held?.place ?? '',
    keys_log: subject,
  };
}

function keyIn({ manifest }: TrustedKeyManifest, role: string, wanted: ManifestKeyState): SigningKeyRow | undefined {
  return manifestRows(manifest).find((row) => row.role === role && row.state === wanted);
}

/** Makes the pending key of a role, in a manifest of its own; keeps one that is already pending. */
async function makePending(deps: KeyOperatorDeps, role: RotatableRole): Promise<void> {
  const { current } = deps.manifests;
  if (keyIn(current, role, 'pending')) return;
  if (!(await openRootKey(deps.keys, current.manifest.root))) return void (await issueManifest(deps, current, {}));
  const { publicJwk } = await deps.keys.generate(role);
  await issueManifest(deps, current, { keys: withPendingKey(current.manifest, role, publicJwk, deps.clock.now()) });
}

export interface Rotated {
  readonly active: ShownKey;
  /** The previous key; absent while the new one is pending. */
  readonly retired?: ShownKey;
  readonly pending?: ShownKey;
  /** What the pending key still waits for. */
  readonly waits_for?: string;
}

/**
 * Rotates the key of a role. The new key is published as pending. When its manifest is sealed and every live process
 * has adopted it, a second manifest activates it and retires the old key, or revokes it if it was stolen.
 * Resolves with both keys, or after 20 seconds with what the new key still waits for; calling it again continues from
 * there. The rotation is logged, and recorded in the security audit of every organisation, with only key ids.
 * @throws {ApiError} conflict when the root key is not here, or another request has rotated the key meanwhile
 */
export async function rotateDeploymentKey(
  deps: KeyOperatorDeps,
  role: RotatableRole,
  stolen = false,
): Promise<Rotated> {
  await deps.adoptNow();
  await makePending(deps, role);
  const wanted = keyIn(deps.manifests.current, role, 'pending');
  const reason = await untilKnownEverywhere(deps);
  const { current } = deps.manifests;
  const [active, pending] = [keyIn(current, role, 'active')!, keyIn(current, role, 'pending')];
  if (!pending || pending.keyId !== wanted?.keyId)
    throw new ApiError('conflict', `The key of the role ${role} was rotated by another request: list the keys.`);
  if (reason !== undefined)
    return { active: await shown(deps, active), pending: await shown(deps, pending), waits_for: reason };
  return activatePending(deps, current, { before: active, fresh: pending }, stolen);
}

async function activatePending(
  deps: KeyOperatorDeps,
  current: TrustedKeyManifest,
  { before, fresh }: { readonly before: SigningKeyRow; readonly fresh: SigningKeyRow },
  stolen: boolean,
): Promise<Rotated> {
  const { logger, clock, manifests } = deps;
  const { role } = fresh;
  const details = { role, active_key_id: fresh.keyId, retired_key_id: before.keyId };
  await issueManifest(
    deps,
    current,
    { keys: withPendingActive(current.manifest, role, clock.now(), stolen) },
    async (tx) => {
      await tellOrganisations(tx, deps, details);
    },
  );
  if (stolen && role === 'issuer') await deps.database.inTransaction('system', deps.recertify);
  const rows = manifestRows(manifests.current.manifest);
  const [active, retired] = [fresh, before].map(({ keyId }) => rows.find((row) => row.keyId === keyId)!);
  logger.warn({ role, active: fresh.keyId, retired: before.keyId, stolen }, 'a key was rotated');
  return { active: await shown(deps, active!), retired: await shown(deps, retired!) };
}

/**
 * Revokes a retired key that was stolen.
 * @throws {ApiError} not_found, conflict
 */
export async function revokeKey(deps: KeyOperatorDeps, keyId: string): Promise<ShownKey> {
  await deps.adoptNow();
  const { current } = deps.manifests;
  const { manifest } = current;
  const key = manifest.keys.find((each) => each.keyId === keyId);
  if (!key) throw new ApiError('not_found', 'There is no key of this id: list the keys.');
  if (key.state !== 'retired')
    throw new ApiError(
      'conflict',
      `The key is ${key.state}: only a retired key can be revoked. To replace an active key that was stolen, rotate its role as stolen.`,
    );
  await issueManifest(deps, current, { keys: withRevokedKey(manifest, keyId) });
  if (key.role === 'issuer') await deps.database.inTransaction('system', deps.recertify);
  deps.logger.warn({ role: key.role, revoked: keyId }, 'a key was revoked');
  return shown(deps, manifestRows(deps.manifests.current.manifest).find((row) => row.keyId === keyId)!);
}

/**
 * Rotates the root key. The old one signs the manifest that names the new one; the new one signs the next manifest,
 * which proves that it works. Resolves with the new fingerprint, which every verifier must be given.
 * @throws {ApiError} conflict when the root key is not here
 */
export async function rotateRoot(deps: KeyOperatorDeps): Promise<ShownManifest> {
  await deps.adoptNow();
  const { current } = deps.manifests;
  if (!(await openRootKey(deps.keys, current.manifest.root))) await issueManifest(deps, current, {});
  const named = await issueManifest(deps, current, { root: await createRootKey(deps.keys) });
  await proveRoot(deps, named);
  const made = await shownManifest(deps);
  deps.logger.warn({ fingerprint: made.root_fingerprint }, 'the root key was rotated');
  return made;
}

/** Makes a manifest with a new root key, unless another request has made one with it meanwhile. */
async function proveRoot(deps: KeyOperatorDeps, named: TrustedKeyManifest): Promise<void> {
  try {
    await issueManifest(deps, named, {});
  } catch (error) {
    await deps.adoptNow();
    if (deps.manifests.current.manifest.number === named.manifest.number) throw error;
  }
}

/**
 * The deployment's keys vouch for every tenancy's evidence, so each tenancy gets the entry in its own log, where its
 * Owners can read it.
 */
async function tellOrganisations(
  tx: Tx,
  deps: KeyOperatorDeps,
  details: Readonly<Record<'role' | 'active_key_id' | 'retired_key_id', string>>,
): Promise<void> {
  const act = { actor: OPERATOR, action: 'keys.rotate', resource: `keys/${details.role}`, details } as const;
  for (const tenantId of await listOrganisationIds(tx)) await recordSecurityEvent(tx, deps, { ...act, tenantId });
}
