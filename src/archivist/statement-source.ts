import { assetFreeRecordDigest } from '../core/event/asset-free-record.js';
import type { EventStatement } from '../core/statement/event-statement.js';
import { readTemplate } from '../core/statement/vcon-template.js';
import type { StatementSource, StatementToSign } from '../ledger/leaf-source.js';
import { nodeSha256 } from '../platform/node-sha256.js';
import { findEventAttributes } from './events/asset-event-store.js';
import { type AssetFreeEvent, assetFreeEventIdentity, assetFreeRecord } from './events/asset-free-event.js';
import { findAssetFreeEvents } from './events/asset-free-event-store.js';

/**
 * Returns what to sign for each waiting statement: an asset event's vCon template; an asset-free event's record, with
 * its template if it has one.
 */
export const statementSource: StatementSource = {
  async contents(tx, entries) {
    const wanted = entries.map((entry) => ({ tenantId: entry.entryTenantId, eventId: entry.entryId }));
    const assetEvents = await findEventAttributes(tx, wanted);
    const found = new Set(assetEvents.map((event) => event.eventId));
    const others = wanted.filter((event) => !found.has(event.eventId));
    const assetFreeEvents = await findAssetFreeEvents(tx, others);
    return [
      ...assetEvents.flatMap((event): StatementToSign[] => {
        const template = readTemplate(event.eventAttributes);
        return template ? [{ entryId: event.eventId, tenantId: event.originTenantId, content: { template } }] : [];
      }),
      ...assetFreeEvents.map((event) => ({
        entryId: event.eventId,
        tenantId: event.tenantId,
        content: recordOf(event),
      })),
    ];
  },
};

function recordOf(event: AssetFreeEvent): EventStatement {
  const digest = assetFreeRecordDigest(assetFreeRecord(event), nodeSha256);
  const template = readTemplate(event.attributes);
  const record = { identity: assetFreeEventIdentity(event), digest };
  return template ? { template, record } : { record };
}
