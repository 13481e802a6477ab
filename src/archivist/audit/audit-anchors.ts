import { equalBytes } from '../../core/bytes.js';
import { isDatabaseUnavailable } from '../../platform/postgres/transient-errors.js';
import type { Anchor } from '../chain/anchor.js';
import { HASH_SCHEMA_VERSION } from '../chain/anchor.js';
import { findAnchor } from '../chain/anchor-store.js';
import { servedEvents } from '../chain/anchor-windows.js';
import { createSimpleHash } from '../chain/simple-hash.js';
import {
  anchoredEventIds,
  contradictoryEvents,
  misplacedSimpleHashEvents,
  type WindowRow,
  windowRows,
} from './anchor-audit-store.js';
import type { DeploymentAudit } from './deployment-audit.js';

const PAGE = 500;
const NAME = 'anchors';
const BEGINNING = new Date(0);

/**
 * Recomputes the hash of every anchor from the events that it covers. Checks that the windows of a tenancy follow each
 * other without a gap and hold every event of its SIMPLE_HASH assets.
 */
export async function auditAnchors(audit: DeploymentAudit): Promise<void> {
  const { database, fault } = audit;
  const contradictory = await database.inTransaction('system', (tx) => contradictoryEvents(tx, PAGE));
  for (const { event_id: eventId, what } of contradictory) fault('events', `event ${eventId}: ${what}`);
  const misplaced = await database.inTransaction('system', (tx) => misplacedSimpleHashEvents(tx, PAGE));
  for (const eventId of new Set(misplaced))
    fault(NAME, `event ${eventId} is recorded for another anchor than its time of acceptance gives`);
  for (const row of await database.inTransaction('system', windowRows)) await auditTenancy(audit, row);
}

async function auditTenancy(audit: DeploymentAudit, row: WindowRow): Promise<void> {
  const { tenant_id: tenantId, anchors } = row;
  const fault = (what: string) => audit.fault(NAME, `tenant/${tenantId}: ${what}`);
  if (anchors === null) return fault('has anchors, but the row that counts them is missing');
  if (anchors !== row.anchor_rows) fault(`${row.anchor_rows} anchors are stored, its row says ${anchors}`);
  if (row.late > 0n) fault(`${row.late} events lie in an anchored window without its anchor`);
  let until = BEGINNING;
  for (let number = 1n; number <= row.anchor_rows; number += 1n) {
    const anchor = await audit.database.inTransaction('system', (tx) => findAnchor(tx, tenantId, number));
    if (!anchor) {
      fault(`anchor ${number} is missing`);
      continue;
    }
    if (anchor.start.getTime() !== until.getTime())
      fault(`anchor ${number} does not begin where anchor ${number - 1n} ends`);
    until = anchor.end;
    await auditAnchor(audit, anchor, (what) => fault(`anchor ${number} ${what}`));
  }
  if (row.anchored_until.getTime() !== until.getTime())
    fault('its row has a different end of the last window than its last anchor');
  if (row.closed_until < row.anchored_until) fault('its row says that an open window is anchored');
}

async function auditAnchor(audit: DeploymentAudit, anchor: Anchor, fault: (what: string) => void): Promise<void> {
  const { tenantId } = anchor;
  const form = tenantId === audit.deployment.publicTenancy ? 'publicassets' : 'assets';
  const hash = createSimpleHash();
  let count = 0n;
  let outside = 0;
  for (let after: string | undefined; ; ) {
    const page = await audit.database
      .inTransaction('system', async (tx) =>
        servedEvents(tx, tenantId, await anchoredEventIds(tx, anchor, after, PAGE), form),
      )
      .catch((error: unknown) => {
        if (isDatabaseUnavailable(error)) throw error;
        return undefined;
      });
    if (!page) return fault('covers an event that is missing or cannot be read');
    for (const { served } of page) {
      hash.add(served);
      const accepted = Date.parse(String(served['timestamp_accepted']));
      if (accepted < anchor.start.getTime() || accepted >= anchor.end.getTime()) outside += 1;
    }
    count += BigInt(page.length);
    after = page.at(-1)?.eventId;
    if (page.length < PAGE) break;
  }
  if (outside > 0) fault(`covers events from outside its window: ${outside}`);
  if (count !== anchor.eventCount) fault(`says ${anchor.eventCount} events and covers ${count}`);
  if (anchor.hashSchemaVersion !== HASH_SCHEMA_VERSION) fault('has an unknown version of the hash');
  if (!equalBytes(hash.digest(), anchor.hash)) fault('has a different hash than its events give');
}
