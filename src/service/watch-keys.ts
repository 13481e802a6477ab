import type { Deployment } from '../archivist/deployment.js';
import type { Clock } from '../platform/clock.js';
import type { Ids } from '../platform/ids.js';
import { putKeyFollower, removeKeyFollower } from '../platform/keys/manifest/key-manifest-store.js';
import type { KeyManifests } from '../platform/keys/manifest/key-manifests.js';
import { manifestRowFaults, manifestRows } from '../platform/keys/manifest/manifest-rows.js';
import type { OpenKeyring } from '../platform/keys/open-keyring.js';
import { listSigningKeys } from '../platform/keys/signing-key-store.js';
import type { Logger } from '../platform/logger.js';
import { looksInTurn } from '../platform/looks-in-turn.js';
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
  const tell = faultTeller(deps);
  const looks = looksInTurn(look, deps.clock, AT_MOST_EVERY_MS);
  let looked = 0;
  let rowFaults: readonly string[] = [];

  const faults = () => [...manifests.faults, ...rowFaults];

  async function compare(): Promise<void> {
    const rows = await database.inTransaction('system', async (tx) => {
      await putKeyFollower(tx, deploymentTenancy, processId, BigInt(manifests.current.manifest.number));
      return listSigningKeys(tx, deploymentTenancy);
    });
    rowFaults = manifestRowFaults(manifests.current.manifest, rows);
  }

  async function look(): Promise<void> {
    const thorough = looked % THOROUGH_EVERY === 0;
    looked += 1;
    let changed = await manifests.refresh(thorough);
    do {
      if (changed) await keyring.adopt(manifestRows(manifests.current.manifest));
      // After the keyring has adopted it: other processes rely on this record.
      if (changed || thorough) await compare();
      // The rows that differ may be those of a manifest that was made since the refresh.
      changed = rowFaults.length > 0 && (await manifests.refresh(thorough));
    } while (changed);
    tell(faults());
  }

  const failed = (error: unknown) =>
    logger.warn({ err: error }, 'the keys could not be read; this is retried, and the keys read last stay in use');
  const timer = setInterval(() => looks.now().catch(failed), EVERY_MS);
  timer.unref();
  looks.now().catch(failed);
  return {
    refresh: looks.soon,
    adoptNow: looks.now,
    faults,
    async close() {
      clearInterval(timer);
      await looks.ended();
      await database.inTransaction('system', (tx) => removeKeyFollower(tx, deploymentTenancy, processId)).catch(failed);
    },
  };
}

/** Returns a function that reports the faults there are, and logs them when they are not those of the last time. */
function faultTeller(deps: { readonly logger: Logger; readonly found?: (faults: number) => void }) {
  let told = '';
  return (faults: readonly string[]): void => {
    deps.found?.(faults.length);
    const text = faults.join('; ');
    if (text !== '' && text !== told)
      deps.logger.error({ faults }, 'the database and the key manifest differ: run "vcon-archivist keys list"');
    told = text;
  };
}
