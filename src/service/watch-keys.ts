import type { Deployment } from '../archivist/deployment.js';
import type { Clock } from '../platform/clock.js';
import type { Ids } from '../platform/ids.js';
import { putKeyFollower, removeKeyFollower } from '../platform/keys/manifest/key-manifest-store.js';
import type { KeyManifests } from '../platform/keys/manifest/key-manifests.js';
import { manifestRowFaults, manifestRows } from '../platform/keys/manifest/manifest-rows.js';
import type { OpenKeyring } from '../platform/keys/open-keyring.js';
import { listSigningKeys } from '../platform/keys/signing-key-store.js';
import type { Logger } from '../platform/logger.js';
import type { Database } from '../platform/postgres/database.js';

const EVERY_MS = 2_000;
/** The shortest time between two refreshes, so that tokens with unknown keys cannot cause more. */
const AT_MOST_EVERY_MS = 1_000;
/**
 * Every tenth refresh also checks what changes less often (rows, object store) and records that this process is alive.
 */
const THOROUGH_EVERY = 10;

/** Keeps the keys of this process at the newest key manifest. */
interface KeyWatch {
  /** Refreshes, at most once a second. */
  refresh(): Promise<void>;
  /** Refreshes at once. */
  adoptNow(): Promise<void>;
  /** Problems with the stored copies of the keys, as sentences: rows that no manifest lists, manifests set back. */
  faults(): readonly string[];
  close(): Promise<void>;
}

/**
 * Keeps the keyring of this process at the newest manifest, whichever process made it, and publishes which one it has
 * adopted: a new key becomes active only when all processes have it. Compares the database's copies with the manifest
 * and logs differences as errors.
 * @param found receives the number of faults
 */
export function watchKeys(deps: {
  readonly database: Database;
  readonly keyring: OpenKeyring;
  readonly manifests: KeyManifests;
  readonly deployment: Deployment;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly found?: (faults: number) => void;
}): KeyWatch {
  const { database, manifests, keyring, logger } = deps;
  const { deploymentTenancy } = deps.deployment;
  const processId = deps.ids.uuid();
  let lookedAt = 0;
  let looks = 0;
  let looking: Promise<void> | undefined;
  let rowFaults: readonly string[] = [];
  let told = '';

  const faults = () => [...manifests.faults, ...rowFaults];

  async function compare(): Promise<void> {
    const rows = await database.inTransaction('system', async (tx) => {
      await putKeyFollower(tx, deploymentTenancy, processId, BigInt(manifests.current.manifest.number));
      return listSigningKeys(tx, deploymentTenancy);
    });
    rowFaults = manifestRowFaults(manifests.current.manifest, rows);
  }

  function tell(): void {
    const all = faults();
    deps.found?.(all.length);
    const text = all.join('; ');
    if (text !== '' && text !== told) logger.error({ faults: all }, 'the database and the key manifest disagree');
    told = text;
  }

  async function look(): Promise<void> {
    const thorough = looks % THOROUGH_EVERY === 0;
    looks += 1;
    const changed = await manifests.refresh(thorough);
    if (changed) await keyring.adopt(manifestRows(manifests.current.manifest));
    // After the keyring has adopted it: other processes rely on this record.
    if (changed || thorough) await compare();
    tell();
  }

  async function lookAfter(before: Promise<void> | undefined): Promise<void> {
    await before?.catch(() => undefined);
    await look();
  }

  function begin(): Promise<void> {
    const begun = lookAfter(looking).finally(() => {
      if (looking === begun) looking = undefined;
    });
    looking = begun;
    return begun;
  }

  function refresh(): Promise<void> {
    if (looking) return looking;
    const now = deps.clock.now();
    if (Math.abs(now - lookedAt) < AT_MOST_EVERY_MS) return Promise.resolve();
    lookedAt = now;
    return begin();
  }

  const failed = (error: unknown) => logger.warn({ err: error }, 'could not read the keys');
  const timer = setInterval(() => begin().catch(failed), EVERY_MS);
  timer.unref();
  begin().catch(failed);
  return {
    refresh,
    adoptNow: begin,
    faults,
    async close() {
      clearInterval(timer);
      await looking?.catch(() => undefined);
      await database.inTransaction('system', (tx) => removeKeyFollower(tx, deploymentTenancy, processId)).catch(failed);
    },
  };
}
