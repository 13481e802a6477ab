import { fromHex, utf8 } from '../core/bytes.js';
import { assetEventLeaf } from '../core/event/asset-event-leaf.js';
import { assetFreeExtraBytes, assetFreeLeaf } from '../core/event/asset-free-leaf.js';
import { trieKey } from '../core/massif/trie-entry.js';
import type { LeafEntry, LeafSource, WaitingEntry } from '../ledger/leaf-source.js';
import type { LogRef } from '../ledger/log.js';
import { nodeSha256 } from '../platform/node-sha256.js';
import type { Tx } from '../platform/postgres/database.js';
import { assetEventIdentity, v3EventOf } from './events/asset-event.js';
import { findAssetEvents } from './events/asset-event-store.js';
import { assetFreeEventIdentity, saltedFields } from './events/asset-free-event.js';
import { findAssetFreeEvents } from './events/asset-free-event-store.js';

/**
 * Leaves of asset events (log-format 4) and asset-free events (5), each from the row that its log serves: a public log
 * commits to public forms.
 */
export const leafSource: LeafSource = {
  async leaves(tx, log, entries) {
    return [
      ...(await assetEventLeaves(tx, log, rowsOf(entries, 'asset_event'))),
      ...(await assetFreeLeaves(tx, log, rowsOf(entries, 'asset_free_event'))),
    ];
  },
};

function rowsOf(entries: readonly WaitingEntry[], kind: WaitingEntry['entryKind']) {
  return entries
    .filter((entry) => entry.entryKind === kind)
    .map((entry) => ({ tenantId: entry.entryTenantId, eventId: entry.entryId }));
}

async function assetEventLeaves(
  tx: Tx,
  log: LogRef,
  wanted: { tenantId: string; eventId: string }[],
): Promise<LeafEntry[]> {
  const events = await findAssetEvents(tx, wanted);
  const logId = utf8(`tenant/${log.tenantId}`);
  return events.map((event) => ({
    entryId: event.eventId,
    trieKey: trieKey(logId, assetEventIdentity(event), nodeSha256),
    leaf: (idtimestamp, committed) => assetEventLeaf(v3EventOf(event, committed), idtimestamp, nodeSha256),
  }));
}

async function assetFreeLeaves(
  tx: Tx,
  log: LogRef,
  wanted: { tenantId: string; eventId: string }[],
): Promise<LeafEntry[]> {
  const events = await findAssetFreeEvents(tx, wanted);
  const logId = fromHex(log.tenantId.replaceAll('-', ''));
  return events.map((event) => {
    const extraBytes = assetFreeExtraBytes(saltedFields(event));
    return {
      entryId: event.eventId,
      trieKey: trieKey(logId, assetFreeEventIdentity(event), nodeSha256),
      extraBytes,
      leaf: (idtimestamp) =>
        assetFreeLeaf({ attributes: event.attributes, trails: [...event.trails] }, idtimestamp, extraBytes),
    };
  });
}
