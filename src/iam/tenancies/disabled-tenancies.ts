import type { Logger } from '../../platform/logger.js';
import { newestLook } from '../../platform/newest-look.js';
import type { Database } from '../../platform/postgres/database.js';
import { listDisabledTenancies } from './tenancy-store.js';

const LOOK_EVERY_MS = 1000;

/** The disabled tenancies, in memory, so that requests can check them at no cost. */
export interface DisabledTenancies {
  has(tenantId: string): boolean;
  /** Reads them now: a process that disables a tenancy calls this before it responds. */
  refresh(): Promise<void>;
  close(): void;
}

/** Knows the disabled tenancies from the start; changes by another process arrive within about a second. */
export async function watchDisabledTenancies(deps: {
  readonly database: Database;
  readonly logger: Logger;
}): Promise<DisabledTenancies> {
  let disabled: ReadonlySet<string> = new Set();
  const refresh = newestLook(
    () => deps.database.inTransaction('system', listDisabledTenancies),
    (found) => {
      disabled = new Set(found);
    },
  );
  let looking = false;
  const look = async (): Promise<void> => {
    if (looking) return;
    looking = true;
    await refresh()
      // Tenancies that were disabled stay disabled, and the next poll retries.
      .catch((error: unknown) =>
        deps.logger.warn({ err: error }, 'disabled tenancies could not be read; this is retried'),
      )
      .finally(() => {
        looking = false;
      });
  };
  await refresh();
  const timer = setInterval(() => void look(), LOOK_EVERY_MS).unref();
  return { has: (tenantId) => disabled.has(tenantId), refresh, close: () => clearInterval(timer) };
}
