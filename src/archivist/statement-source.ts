import { readTemplate } from '../core/statement/vcon-template.js';
import type { StatementSource } from '../ledger/leaf-source.js';
import { findEventAttributes } from './events/asset-event-store.js';
import { findAssetFreeEvents } from './events/asset-free-event-store.js';

/** What to sign: the template of each waiting statement's event, be it an asset event or an asset-free one. */
export const statementSource: StatementSource = {
  async templates(tx, entries) {
    const wanted = entries.map((entry) => ({ tenantId: entry.entryTenantId, eventId: entry.entryId }));
    const assetEvents = await findEventAttributes(tx, wanted);
    const found = new Set(assetEvents.map((event) => event.eventId));
    const others = wanted.filter((event) => !found.has(event.eventId));
    const assetFreeEvents = await findAssetFreeEvents(tx, others);
    const attributed = [
      ...assetEvents.map((event) => ({
        entryId: event.eventId,
        tenantId: event.originTenantId,
        attributes: event.eventAttributes,
      })),
      ...assetFreeEvents.map((event) => ({
        entryId: event.eventId,
        tenantId: event.tenantId,
        attributes: event.attributes,
      })),
    ];
    return attributed.flatMap(({ attributes, ...event }) => {
      const template = readTemplate(attributes);
      return template ? [{ ...event, template }] : [];
    });
  },
};
