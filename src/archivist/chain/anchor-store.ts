import { names, selected, table } from '../../platform/postgres/columns.js';
import type { SqlStatement, Tx } from '../../platform/postgres/database.js';
import { insertRows, insertsOf } from '../../platform/postgres/insert-rows.js';
import type { Anchor } from './anchor.js';

/** An accepted event of a SIMPLE_HASH asset, as far as its anchor needs it. */
export interface SimpleHashEvent {
  readonly tenantId: string;
  readonly eventId: string;
  readonly acceptedAt: Date;
}

/** A window that accepts no more events and has no anchor yet. */
interface ClosedWindow {
  readonly tenantId: string;
  readonly start: Date;
  readonly end: Date;
}

const WINDOW = table('anchor_window').columns<{ readonly tenantId: string }>({ tenantId: 'tenant_id' });
const OF_WINDOW = names('anchor_window');
const OF_EVENT = names('simple_hash_event');

const EVENT = table('simple_hash_event').columns<SimpleHashEvent>({
  tenantId: 'tenant_id',
  eventId: 'event_id',
  acceptedAt: 'accepted_at',
});

const ANCHOR = table('anchor').columns<Anchor>({
  tenantId: 'tenant_id',
  number: 'anchor_number',
  start: 'start_time',
  end: 'end_time',
  hashSchemaVersion: 'hash_schema_version',
  hash: 'anchor_hash',
  eventCount: 'event_count',
});
const COLUMNS = selected(ANCHOR, 'a');

/**
 * Keeps the windows of these tenancies open until the transaction ends. Resolves with the latest end of a closed
 * window; no event may be dated earlier.
 */
export async function holdWindowsOpen(tx: Tx, tenantIds: readonly string[]): Promise<Date> {
  const held = await heldWindows(tx, tenantIds);
  if (held.length === tenantIds.length) return latest(held);
  await insertRows(
    tx,
    WINDOW,
    tenantIds.map((tenantId) => ({ tenantId })),
    'ORDER BY tenant_id ON CONFLICT DO NOTHING',
  );
  return latest(await heldWindows(tx, tenantIds));
}

async function heldWindows(tx: Tx, tenantIds: readonly string[]): Promise<Date[]> {
  const rows = await tx.query<{ closed_until: Date }>(
    'SELECT closed_until FROM archivist.anchor_window WHERE tenant_id = ANY ($1::uuid[]) ORDER BY tenant_id FOR SHARE',
    [tenantIds],
  );
  return rows.map((row) => row.closed_until);
}

function latest(times: readonly Date[]): Date {
  return new Date(Math.max(...times.map((time) => time.getTime())));
}

/** Inserts the events that wait for an anchor, in the transaction that accepts them. */
export function insertSimpleHashEvents(events: readonly SimpleHashEvent[]): Iterable<SqlStatement> {
  return insertsOf(EVENT, events);
}

/** The tenancies with events that wait for their anchor. */
export async function waitingTenancies(tx: Tx): Promise<string[]> {
  const rows = await tx.query<{ tenant_id: string }>(
    `SELECT tenant_id FROM archivist.anchor_window w WHERE EXISTS
       (SELECT FROM archivist.simple_hash_event e WHERE e.tenant_id = w.tenant_id AND e.anchor_number IS NULL)`,
  );
  return rows.map((row) => row.tenant_id);
}

/**
 * Closes the window of a tenancy, some seconds behind the database's clock, if an event waits in it and no earlier
 * closed window still waits for its anchor. Waits at most half a second for running accepts, because they hold the
 * window open.
 */
export async function closeWindow(tx: Tx, tenantId: string, marginSeconds: number): Promise<void> {
  await tx.query(`SELECT set_config('lock_timeout', '500ms', true)`);
  await tx.execute(
    `UPDATE archivist.anchor_window w SET ${OF_WINDOW.closed_until} = now.until
       FROM (SELECT date_trunc('milliseconds', clock_timestamp()) - make_interval(secs => $2) AS until) AS now
      WHERE w.tenant_id = $1 AND w.closed_until = w.anchored_until AND w.closed_until < now.until AND EXISTS
        (SELECT FROM archivist.simple_hash_event e
          WHERE e.tenant_id = w.tenant_id AND e.anchor_number IS NULL AND e.accepted_at < now.until)`,
    [tenantId, marginSeconds],
  );
}

/**
 * Returns the closed window of a tenancy when a published seal of the tenancy log covers every event in it; undefined
 * before.
 */
export async function readyWindow(tx: Tx, tenantId: string): Promise<ClosedWindow | undefined> {
  const [row] = await tx.query<{ anchored_until: Date; closed_until: Date }>(
    `SELECT w.anchored_until, w.closed_until FROM archivist.anchor_window w
       LEFT JOIN archivist.log g ON g.tenant_id = w.tenant_id AND g.log_id = w.tenant_id
       LEFT JOIN archivist.seal s ON s.tenant_id = g.tenant_id AND s.log_id = g.log_id AND s.seal_number = g.published_number
      WHERE w.tenant_id = $1 AND w.closed_until > w.anchored_until AND NOT EXISTS
        (SELECT FROM archivist.simple_hash_event e
           LEFT JOIN archivist.leaf l ON l.tenant_id = e.tenant_id AND l.log_id = e.tenant_id AND l.entry_id = e.event_id
          WHERE e.tenant_id = w.tenant_id AND e.anchor_number IS NULL AND e.accepted_at < w.closed_until
            AND l.leaf_index < s.leaves IS NOT TRUE)`,
    [tenantId],
  );
  return row && { tenantId, start: row.anchored_until, end: row.closed_until };
}

/** Events of a closed window in list order, after the given one. */
export async function eventsOfWindow(
  tx: Tx,
  window: ClosedWindow,
  page: { readonly after: string | undefined; readonly limit: number },
): Promise<string[]> {
  const rows = await tx.query<{ event_id: string }>(
    `SELECT event_id FROM archivist.simple_hash_event
      WHERE tenant_id = $1 AND anchor_number IS NULL AND accepted_at < $2 AND ($3::uuid IS NULL OR event_id > $3)
      ORDER BY event_id LIMIT $4`,
    [window.tenantId, window.end, page.after ?? null, page.limit],
  );
  return rows.map((row) => row.event_id);
}

/**
 * Stores the anchor of a closed window once; undefined when another process has stored it. It covers exactly the events
 * that were hashed, because a closed window accepts no others.
 * @throws {Error} when the number of events differs; the transaction must then be rolled back
 */
export async function insertAnchor(
  tx: Tx,
  window: ClosedWindow,
  hashed: Pick<Anchor, 'hash' | 'hashSchemaVersion' | 'eventCount'>,
): Promise<bigint | undefined> {
  const [row] = await tx.query<{ anchors: bigint }>(
    `UPDATE archivist.anchor_window
        SET ${OF_WINDOW.anchored_until} = $3, ${OF_WINDOW.anchors} = ${OF_WINDOW.anchors} + 1
      WHERE tenant_id = $1 AND anchored_until = $2 AND closed_until = $3 RETURNING anchors`,
    [window.tenantId, window.start, window.end],
  );
  if (!row) return undefined;
  const covered = await tx.execute(
    `UPDATE archivist.simple_hash_event SET ${OF_EVENT.anchor_number} = $2
      WHERE tenant_id = $1 AND anchor_number IS NULL AND accepted_at < $3`,
    [window.tenantId, row.anchors, window.end],
  );
  if (BigInt(covered) !== hashed.eventCount) throw new Error('the anchor covers other events than were hashed');
  await insertRows(tx, ANCHOR, [{ ...window, ...hashed, number: row.anchors }]);
  return row.anchors;
}

export async function findAnchor(tx: Tx, tenantId: string, number: bigint): Promise<Anchor | undefined> {
  const [row] = await tx.query<Anchor>(
    `SELECT ${COLUMNS} FROM archivist.anchor a WHERE a.tenant_id = $1 AND a.anchor_number = $2`,
    [tenantId, number],
  );
  return row;
}

/** Anchors that have no transaction yet, oldest first within a tenancy. */
export async function anchorsWithoutTransaction(tx: Tx, limit: number): Promise<Anchor[]> {
  return tx.query<Anchor>(
    `SELECT ${COLUMNS} FROM archivist.anchor_window w JOIN LATERAL
       (SELECT * FROM archivist.anchor n WHERE n.tenant_id = w.tenant_id AND n.anchor_number >
          coalesce((SELECT max(t.number) FROM archivist.chain_transaction t
                     WHERE t.tenant_id = w.tenant_id AND t.kind = 'SIMPLE_HASH'), 0)
        ORDER BY n.anchor_number LIMIT ${limit}) a ON true
      ORDER BY a.tenant_id, a.anchor_number LIMIT ${limit}`,
  );
}
