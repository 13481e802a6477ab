import type { LogRef } from '../../ledger/log.js';
import { createLog } from '../../ledger/log-store.js';
import type { Clock } from '../../platform/clock.js';
import type { Ids } from '../../platform/ids.js';
import type { Database } from '../../platform/postgres/database.js';
import { findPayloadHashLog, insertPayloadHashLog } from './payload-hash-store.js';

/**
 * Returns the profile's log. The first start with the profile enabled creates it, once even if several processes start
 * together.
 */
export function openPayloadHashLog(
  deps: { readonly database: Database; readonly clock: Clock; readonly ids: Ids; readonly massifHeight: number },
  tenantId: string,
): Promise<LogRef> {
  return deps.database.inTransaction({ read: [tenantId], write: [tenantId] }, async (tx) => {
    const known = await findPayloadHashLog(tx, tenantId);
    if (known !== undefined) return { tenantId, logId: known };
    const logId = deps.ids.uuid();
    if (!(await insertPayloadHashLog(tx, tenantId, logId)))
      return { tenantId, logId: (await findPayloadHashLog(tx, tenantId))! };
    const { massifHeight } = deps;
    const createdAt = new Date(deps.clock.now());
    const structure = 'RFC9162_SHA256' as const;
    await createLog(tx, { tenantId, logId, structure, name: `log/${logId}`, massifHeight, createdAt });
    return { tenantId, logId };
  });
}
