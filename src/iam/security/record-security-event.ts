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
 * Records who did what in the transaction that does it: both are there, or neither is. The entry is an asset-free event of
 * the tenancy, so its leaf, its receipt and its offline proof are those of every other event. Its line of the service's log
 * is written before the commit: after a crash there may be a line too many, never one too few.
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
 * One structured line, whatever the level of the service's log; a silent log stays silent. It is all that is kept of what
 * concerns no tenancy.
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
