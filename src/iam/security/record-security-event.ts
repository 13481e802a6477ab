import type { Clock } from '../../platform/clock.js';
import type { Ids } from '../../platform/ids.js';
import type { Logger } from '../../platform/logger.js';
import type { Tx } from '../../platform/postgres/database.js';
import { type SecurityAct, securityAttributes } from './security-event.js';
import { insertSecurityEvent } from './security-event-store.js';

export interface SecurityDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
}

/**
 * Records who did what, in the transaction that does it: both commit, or neither does. The entry is an asset-free event
 * of the tenancy, so it has a leaf, a receipt and an offline proof like every other event. The log line is written
 * before the commit: a crash can leave an extra line, never a missing one.
 */
export async function recordSecurityEvent(tx: Tx, deps: SecurityDeps, act: SecurityAct): Promise<void> {
  const event = {
    tenantId: act.tenantId,
    eventId: deps.ids.uuid(),
    attributes: securityAttributes(act),
    createdAtMs: BigInt(deps.clock.now()),
  };
  await insertSecurityEvent(tx, event);
  tellSecurityEvent(deps.logger, act, `events/${event.eventId}`);
}

/**
 * Writes one structured line, regardless of the log level unless the log is silent. Acts that concern no tenancy are
 * recorded only here.
 */
export function tellSecurityEvent(
  logger: Logger,
  act: Omit<SecurityAct, 'tenantId'> & { readonly tenantId?: string },
  identity?: string,
): void {
  const line = {
    ...securityAttributes(act),
    ...(act.tenantId === undefined ? {} : { tenant_id: `tenant/${act.tenantId}` }),
    ...(identity === undefined ? {} : { event: identity }),
  };
  const heard = logger.level === 'silent' ? logger : logger.child({}, { level: 'info' });
  heard.info({ security: line }, 'security event');
}
