import type { Logger } from '../../platform/logger.js';
import type { Database } from '../../platform/postgres/database.js';
import { listDisabledTenancies } from './tenancy-store.js';

const LOOK_EVERY_MS = 1000;

/** Which tenancies are disabled, in memory, so that asking costs a request nothing. */
export interface DisabledTenancies {
  has(tenantId: string): boolean;
  /** Looks now: whoever disables a tenancy does so before answering. */
  refresh(): Promise<void>;
  close(): void;
}

/** Knows what is disabled from the start on, and what another process disables within about a second. */
export async function watchDisabledTenancies(deps: {
  readonly database: Database;
  readonly logger: Logger;
}): Promise<DisabledTenancies> {
  let disabled: ReadonlySet<string> = new Set();
  const refresh = async (): Promise<void> => {
    disabled = new Set(await deps.database.inTransaction('system', listDisabledTenancies));
  };
  let looking = false;
  const look = async (): Promise<void> => {
    if (looking) return;
    looking = true;
    await refresh()
      // What was disabled stays so, and the next look asks again.
      .catch((error: unknown) => deps.logger.warn({ err: error }, 'disabled tenancies could not be read'))
      .finally(() => {
        looking = false;
      });
  };
  await refresh();
  const timer = setInterval(() => void look(), LOOK_EVERY_MS).unref();
  return { has: (tenantId) => disabled.has(tenantId), refresh, close: () => clearInterval(timer) };
}
