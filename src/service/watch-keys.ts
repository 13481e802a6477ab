import type { Deployment } from '../archivist/deployment.js';
import type { Clock } from '../platform/clock.js';
import type { OpenKeyring } from '../platform/keys/open-keyring.js';
import { listSigningKeys } from '../platform/keys/signing-key-store.js';
import type { Logger } from '../platform/logger.js';
import type { Database } from '../platform/postgres/database.js';

const EVERY_MS = 60_000;
/** Whoever sends tokens of keys that do not exist makes us look no more often than this. */
const AT_MOST_EVERY_MS = 1_000;

/**
 * Keeps the keyring of this process at what the database says, whichever process rotated a key. `refresh` looks no more
 * often than once a second, `adoptNow` always.
 */
export function watchKeys(deps: {
  readonly database: Database;
  readonly keyring: OpenKeyring;
  readonly deployment: Deployment;
  readonly clock: Clock;
  readonly logger: Logger;
}): { refresh(): Promise<void>; adoptNow(): Promise<void>; close(): void } {
  let lookedAt = 0;
  let looking: Promise<void> | undefined;

  async function look(): Promise<void> {
    const { deploymentTenancy } = deps.deployment;
    const rows = await deps.database.inTransaction('system', (tx) => listSigningKeys(tx, deploymentTenancy));
    await deps.keyring.adopt(rows);
  }

  function refresh(): Promise<void> {
    if (looking) return looking;
    const now = deps.clock.now();
    if (Math.abs(now - lookedAt) < AT_MOST_EVERY_MS) return Promise.resolve();
    lookedAt = now;
    looking = look().finally(() => {
      looking = undefined;
    });
    return looking;
  }

  const timer = setInterval(() => {
    refresh().catch((error: unknown) => deps.logger.warn({ err: error }, 'the keys could not be looked up'));
  }, EVERY_MS);
  timer.unref();
  return { refresh, adoptNow: look, close: () => clearInterval(timer) };
}
