import type { Failpoints } from '../../ledger/failpoints.js';
import type { Logger } from '../../platform/logger.js';
import type { Database, Tx } from '../../platform/postgres/database.js';
import type { Deployment } from '../deployment.js';
import { assetEventResponse } from '../events/asset-event.js';
import { findAssetEvents } from '../events/asset-event-store.js';
import { eventCommits } from '../events/event-commits.js';
import { HASH_SCHEMA_VERSION } from './anchor.js';
import { closeWindow, eventsOfWindow, insertAnchor, readyWindow, waitingTenancies } from './anchor-store.js';
import { createSimpleHash } from './simple-hash.js';

const PAGE = 500;
/** A running accept holds the window open; the next run closes it. */
const LOCK_NOT_AVAILABLE = '55P03';

export interface AnchorDeps {
  readonly database: Database;
  readonly deployment: Deployment;
  readonly failpoints: Failpoints;
  readonly logger: Logger;
  /**
   * A window closes this many seconds in the past, so that a node whose clock is behind rarely has to date an event
   * later.
   */
  readonly marginSeconds: number;
}

/**
 * Makes the anchors that are due: closes the window of each tenancy in which an event waits, and anchors it as soon as
 * every event in it is CONFIRMED.
 * A crash leaves nothing, or a closed window whose anchor the next run makes. A failure in one tenancy does not delay
 * the others. Resolves with the number of anchors made.
 */
export async function anchorWindows(deps: AnchorDeps, stopping: () => boolean): Promise<number> {
  let made = 0;
  for (const tenantId of await deps.database.inTransaction('system', waitingTenancies)) {
    if (stopping()) break;
    try {
      if (await anchorWindow(deps, tenantId)) made += 1;
    } catch (error) {
      if ((error as { code?: unknown }).code !== LOCK_NOT_AVAILABLE)
        deps.logger.error({ err: error, tenantId }, 'the events of a window could not be anchored; it is retried');
    }
  }
  return made;
}

async function anchorWindow(deps: AnchorDeps, tenantId: string): Promise<boolean> {
  const { database, deployment, failpoints, marginSeconds } = deps;
  const scope = { read: [tenantId], write: [tenantId] };
  await database.inTransaction(scope, (tx) => closeWindow(tx, tenantId, marginSeconds));
  await failpoints.reach('anchor.closed');
  const window = await database.inTransaction(scope, (tx) => readyWindow(tx, tenantId));
  if (!window) return false;
  const form = tenantId === deployment.publicTenancy ? 'publicassets' : 'assets';
  const hash = createSimpleHash();
  let eventCount = 0n;
  for (let after: string | undefined; ; ) {
    const page = await database.inTransaction(scope, async (tx) =>
      servedEvents(tx, tenantId, await eventsOfWindow(tx, window, { after, limit: PAGE }), form),
    );
    for (const { served } of page) hash.add(served);
    eventCount += BigInt(page.length);
    after = page.at(-1)?.eventId;
    if (page.length < PAGE) break;
  }
  const hashed = { hash: hash.digest(), hashSchemaVersion: HASH_SCHEMA_VERSION, eventCount };
  return database.inTransaction(scope, async (tx) => {
    const number = await insertAnchor(tx, window, hashed);
    await failpoints.reach('anchor.inside');
    return number !== undefined;
  });
}

/**
 * Events of a tenancy exactly as they are served, in the order of the given ids. @throws {Error} when one is missing
 */
export async function servedEvents(
  tx: Tx,
  tenantId: string,
  ids: readonly string[],
  form: 'assets' | 'publicassets',
): Promise<{ eventId: string; served: Record<string, unknown> }[]> {
  const events = await findAssetEvents(
    tx,
    ids.map((eventId) => ({ tenantId, eventId })),
  );
  const byId = new Map(events.map((event) => [event.eventId, event]));
  const known = await eventCommits(tx, tenantId, events);
  return ids.map((eventId) => {
    const event = byId.get(eventId);
    if (!event) throw new Error('an event of the window is not there');
    return { eventId, served: assetEventResponse(event, known.get(eventId), form) };
  });
}
