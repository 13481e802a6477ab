import { equalBytes } from '../../../core/bytes.js';
import type { VerifySignature } from '../../../core/cose/signature.js';
import { VerificationError } from '../../../core/errors.js';
import {
  type TrustedKeyManifest,
  verifyKeptKeyManifest,
  verifyNextKeyManifest,
} from '../../../core/keys/verify-key-manifests.js';
import type { ObjectStore } from '../../object-store.js';
import type { Database } from '../../postgres/database.js';
import { type KeyManifestRow, listKeyManifests } from './key-manifest-store.js';
import type { ManifestFile } from './manifest-file.js';
import { keepManifest, keptManifest, manifestDamage, manifestObjectKey } from './manifest-objects.js';

interface ManifestDeps {
  readonly database: Database;
  readonly objectStore: ObjectStore;
  readonly file: ManifestFile;
  readonly verifySignature: VerifySignature;
  /** Uuid of the deployment's own tenancy. */
  readonly deploymentTenancy: string;
}

/** The newest key manifest of this deployment that this process knows. */
export interface KeyManifests {
  readonly current: TrustedKeyManifest;
  /** Faults of the database's manifests, in sentences; as of the last refresh. */
  readonly faults: readonly string[];
  /**
   * Adopts newer manifests of the database and, if `thorough`, of the object store. A manifest that is older, or not
   * signed by the root key, is never adopted but reported as a fault. Resolves with whether there was a newer one.
   */
  refresh(thorough?: boolean): Promise<boolean>;
}

/** The result of one refresh. */
interface Found {
  readonly newest: TrustedKeyManifest;
  readonly faults: readonly string[];
}

async function following(deps: ManifestDeps, before: TrustedKeyManifest, bytes: Uint8Array) {
  try {
    return await verifyNextKeyManifest(before, bytes, deps.verifySignature);
  } catch (error) {
    if (error instanceof VerificationError) return error.message;
    throw error;
  }
}

function storedFault(rows: readonly KeyManifestRow[], { manifest, bytes }: TrustedKeyManifest): string | undefined {
  const row = rows.find(({ number }) => number === BigInt(manifest.number));
  if (!row)
    return `key manifest ${manifest.number} is not in the database: it was rolled back to an older state, or the row was deleted`;
  if (!equalBytes(row.manifest, bytes)) return `key manifest ${manifest.number} differs from the one in the database`;
  return undefined;
}

async function objectFault(deps: ManifestDeps, key: string, bytes: Uint8Array, why: string): Promise<string> {
  const damage = await manifestDamage(key, bytes, deps.verifySignature);
  return damage ?? `a key manifest in the object store is not accepted: ${why}`;
}

async function look(deps: ManifestDeps, current: TrustedKeyManifest, thorough: boolean): Promise<Found> {
  const { database, deploymentTenancy, objectStore } = deps;
  const from = BigInt(current.manifest.number);
  const stored = (first: bigint) =>
    database.inTransaction('system', (tx) => listKeyManifests(tx, deploymentTenancy, first));
  const rows = await stored(from);
  const fault = storedFault(rows, current);
  const faults = fault === undefined ? [] : [fault];
  let newest = current;
  for (const row of rows.filter(({ number }) => number > from)) {
    const next = await following(deps, newest, row.manifest);
    if (typeof next === 'string') {
      faults.push(`a key manifest in the database is not accepted: ${next}`);
      break;
    }
    newest = next;
  }
  for (let more = thorough; more; ) {
    const { subject, number } = newest.manifest;
    const kept = await keptManifest(objectStore, subject, number + 1);
    const next = kept && (await following(deps, newest, kept));
    more = next !== undefined && typeof next !== 'string';
    if (typeof next === 'string')
      faults.push(await objectFault(deps, manifestObjectKey(subject, number + 1), kept!, next));
    else if (next) {
      // Another process may have made it since the rows were read: it stores one in the database first.
      if (!(await stored(BigInt(number) + 1n)).some((row) => row.number === BigInt(number) + 1n))
        faults.push(
          `key manifest ${number + 1} is in the object store, but not in the database: the database was rolled back to an older state`,
        );
      newest = next;
    }
  }
  return { newest, faults };
}

/** From here on, no process of this deployment accepts an older manifest. */
async function keep(deps: ManifestDeps, { manifest, bytes }: TrustedKeyManifest): Promise<void> {
  await keepManifest(deps.objectStore, manifest, bytes, deps.verifySignature);
  await deps.file.replace(bytes);
}

/**
 * The manifest in `KEYS_DIR` was in the object store before, and an older copy has the first one: a store without both is an
 * empty folder, or another one.
 */
async function requireKept(objectStore: ObjectStore, { manifest }: TrustedKeyManifest): Promise<void> {
  const { subject, number } = manifest;
  for (const each of [number, 1]) if (await keptManifest(objectStore, subject, each)) return;
  throw new Error(
    `OBJECT_STORE_URL has no ${manifestObjectKey(subject, number)}, which this deployment has stored: mount its volume, or name the place that the other processes use (docs/operate/halted-log.md#the-object-store-is-empty)`,
  );
}

/** Tells the operator that `KEYS_DIR` is not the folder of this deployment. */
export function manifestIsMissing(path: string): Error {
  return new Error(
    `KEYS_DIR has no key manifest of this deployment (${path}): set KEYS_DIR to this deployment’s folder, or restore all files of that folder from its backup`,
  );
}

/**
 * Opens the newest manifest, starting from the one in `KEYS_DIR`.
 * @param first the deployment's first manifest if it was just created; otherwise it must be in `KEYS_DIR`
 * @throws {Error} with a message for the operator, if `KEYS_DIR` has none, or the object store is not this deployment's or has
 * another one with its number
 */
export async function openKeyManifests(deps: ManifestDeps, first?: Uint8Array): Promise<KeyManifests> {
  const remembered = first ?? (await deps.file.read());
  if (!remembered) throw manifestIsMissing(deps.file.path);
  const start = await verifyKeptKeyManifest(remembered, deps.verifySignature).catch((error: unknown) => {
    if (error instanceof VerificationError)
      throw new Error(
        `${deps.file.path} cannot be used (${error.message}): restore it from the newest backup of KEYS_DIR (docs/operate/keys.md)`,
      );
    throw error;
  });
  if (!first) await requireKept(deps.objectStore, start);
  let { newest: current, faults } = await look(deps, start, true);
  await keep(deps, current);
  return {
    get current() {
      return current;
    },
    get faults() {
      return faults;
    },
    async refresh(thorough = false) {
      const before = current;
      const found = await look(deps, before, thorough);
      faults = found.faults;
      if (found.newest === before || found.newest.manifest.number <= current.manifest.number) return false;
      await keep(deps, found.newest);
      current = found.newest;
      return true;
    },
  };
}
