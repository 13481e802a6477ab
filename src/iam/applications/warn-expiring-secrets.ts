import type { Clock } from '../../platform/clock.js';
import type { Logger } from '../../platform/logger.js';
import type { Database } from '../../platform/postgres/database.js';
import { findExpiringApplications } from './expiring-secrets-store.js';

/** How long before a secret expires the warning is logged: thirty days. */
const WARN_BEFORE_MS = 30 * 24 * 60 * 60 * 1000;

export interface ExpiryDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: { expiringSecrets(applications: number): void };
}

/** Writes a log line for each application whose last secret expires within thirty days, and sets the metric to their number. */
export async function warnExpiringSecrets({ database, clock, logger, metrics }: ExpiryDeps): Promise<number> {
  const now = clock.now();
  const expiring = await database.inTransaction('system', (tx) =>
    findExpiringApplications(tx, new Date(now), new Date(now + WARN_BEFORE_MS)),
  );
  metrics.expiringSecrets(expiring.length);
  for (const { tenantId, applicationId, validUntil } of expiring)
    logger.warn(
      { tenancy: tenantId, application: applicationId, expires: validUntil.toISOString() },
      'the last credential of an application expires soon; regenerate it',
    );
  return expiring.length;
}
