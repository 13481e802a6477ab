import { equalBytes } from '../../core/bytes.js';
import { keyAlgorithms } from '../../core/cose/public-key.js';
import { VerificationError } from '../../core/errors.js';
import { type KeyManifest, unsignedKeyManifest } from '../../core/keys/key-manifest.js';
import { completeKeyManifest } from '../../core/keys/sign-key-manifest.js';
import { type TrustedKeyManifest, verifyNextKeyManifest } from '../../core/keys/verify-key-manifests.js';
import { enterKeyManifest } from '../../ledger/keys-log/enter-key-manifest.js';
import type { LogRef } from '../../ledger/log.js';
import type { Clock } from '../../platform/clock.js';
import { ApiError } from '../../platform/errors.js';
import type { Ids } from '../../platform/ids.js';
import type { KeyStore } from '../../platform/keys/key-store.js';
import { listKeyManifests, lockKeyManifests } from '../../platform/keys/manifest/key-manifest-store.js';
import type { KeyManifests } from '../../platform/keys/manifest/key-manifests.js';
import { manifestRows } from '../../platform/keys/manifest/manifest-rows.js';
import { nodeVerify } from '../../platform/keys/node-verify.js';
import { putSigningKey } from '../../platform/keys/signing-key-store.js';
import type { Database, Tx } from '../../platform/postgres/database.js';
import { type Deployment, keysLog } from '../deployment.js';
import { manifestLogs } from './manifest-logs.js';
import { type ManifestChange, nextManifest } from './next-manifest.js';
import { openRootKey } from './root-key.js';

/** What making a manifest depends on. */
export interface IssueDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly keys: KeyStore;
  readonly manifests: KeyManifests;
  readonly deployment: Deployment;
  /** The DID of the service. */
  readonly issuer: string;
  /** Lets this process adopt the newest manifest at once; others follow within seconds. */
  readonly adoptNow: () => Promise<void>;
  nudge(log: LogRef): void;
}

/**
 * Returns the manifest after `before` unsigned, for an offline root key.
 * @param before the manifest that the change was made from; after a newer one, the change could undo what that one says
 */
export async function draftManifest(
  deps: IssueDeps,
  before: TrustedKeyManifest,
  change: ManifestChange,
): Promise<Uint8Array> {
  const logs = await deps.database.inTransaction('system', (tx) => manifestLogs(tx, deps.deployment));
  const { root } = before.manifest;
  const manifest = nextManifest(before, change, { atMs: deps.clock.now(), logs, issuer: deps.issuer });
  return unsignedKeyManifest(manifest, { publicKey: root, alg: keyAlgorithms(root)[0]! });
}

/**
 * Makes the next manifest with the local root key. When it resolves, the manifest is stored, queued for the keys log,
 * and adopted by this process. If it rejects, nothing has changed.
 * @param before as for `draftManifest`
 * @param also writes that belong to the same transaction
 * @throws {ApiError} conflict when the root key is not here, or another manifest was made at the same time
 */
export async function issueManifest(
  deps: IssueDeps,
  before: TrustedKeyManifest,
  change: ManifestChange,
  also: (tx: Tx, manifest: KeyManifest) => Promise<void> = async () => undefined,
): Promise<TrustedKeyManifest> {
  const signer = await openRootKey(deps.keys, before.manifest.root);
  if (!signer)
    throw new ApiError(
      'conflict',
      'The root key is not here: make a request with "keys propose", sign it with "keys sign" where the root key is, and bring it back with "keys publish".',
    );
  try {
    return await enterManifest(
      deps,
      await completeKeyManifest(await draftManifest(deps, before, change), signer),
      also,
    );
  } catch (error) {
    const { current } = deps.manifests;
    if (error instanceof VerificationError && current !== before) throw madeMeanwhile(current.manifest.number);
    throw error;
  }
}

function madeMeanwhile(number: number): ApiError {
  return new ApiError('conflict', `There is a key manifest ${number} already: list the keys, and try again.`);
}

/** A database that was set back has another keys log: a manifest entered there would fork it. */
async function requireStored(tx: Tx, tenantId: string, { manifest, bytes }: TrustedKeyManifest): Promise<void> {
  const [row] = await listKeyManifests(tx, tenantId, BigInt(manifest.number), 1);
  if (row && equalBytes(row.manifest, bytes)) return;
  throw new ApiError(
    'conflict',
    `Key manifest ${manifest.number} is not in the database: the database was rolled back to an older state, and no key can be changed. Run "vcon-archivist logs resume" for the keys log, which brings its entries back.`,
  );
}

/**
 * Stores a signed manifest that follows the current one, and lets this process adopt it.
 * @throws {VerificationError} when it does not follow, or is not signed by the root key
 * @throws {ApiError} conflict when another manifest was made at the same time
 */
export async function enterManifest(
  deps: IssueDeps,
  bytes: Uint8Array,
  also: (tx: Tx, manifest: KeyManifest) => Promise<void> = async () => undefined,
): Promise<TrustedKeyManifest> {
  const log = keysLog(deps.deployment);
  const next = await verifyNextKeyManifest(deps.manifests.current, bytes, nodeVerify);
  const { manifest } = next;
  await deps.database.inTransaction('system', async (tx) => {
    await lockKeyManifests(tx);
    await requireStored(tx, log.tenantId, deps.manifests.current);
    const row = { number: BigInt(manifest.number), entryId: deps.ids.uuid(), manifest: bytes };
    if (!(await enterKeyManifest(tx, log, row))) throw madeMeanwhile(manifest.number);
    // Pending rows are updated first, then retired ones: a role has only one active row.
    for (const key of manifestRows(manifest).toReversed()) await putSigningKey(tx, log.tenantId, key);
    await also(tx, manifest);
  });
  await deps.adoptNow();
  deps.nudge(log);
  return next;
}
