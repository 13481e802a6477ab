import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { unloggedEvents } from '../../src/archivist/unlogged-events-store.js';
import { type Opened, openEngine } from '../ledger/test-engines.js';
import { engines } from '../support/engines.js';
import { watchedRows } from '../support/watched-rows.js';

const EVENTS = 20_000;

describe.each(engines())('events that no log has, on %s', (engine) => {
  let opened: Opened;
  beforeAll(async () => {
    opened = await openEngine(engine);
    for (const table of ['leaf', 'asset_event'])
      await opened.asOwner(`ALTER TABLE archivist.${table} SET (autovacuum_enabled = off)`);
    await opened.asOwner(
      `WITH event AS (
         INSERT INTO archivist.asset_event (tenant_id, event_id, asset_id, origin_tenant_id, operation, behaviour,
           event_attributes, asset_attributes, principal_declared, principal_accepted, timestamp_declared,
           timestamp_accepted, accepted_at, from_address)
         SELECT tenancy, gen_random_uuid(), tenancy, tenancy, 'Record', 'RecordEvidence', '{}', '{}', '{}', '{}', now(), now(), now(), ''
           FROM gen_random_uuid() AS tenancy, generate_series(1, ${EVENTS}) RETURNING tenant_id, event_id)
       INSERT INTO archivist.leaf
         (tenant_id, log_id, leaf_index, entry_id, entry_kind, entry_tenant_id, idtimestamp, timestamp_committed)
       SELECT tenant_id, tenant_id, row_number() OVER (), event_id, 'asset_event', tenant_id, '\\x0000000000000000', ''
         FROM event OFFSET 1`,
    );
  });
  afterAll(() => opened.close());

  it('are found by reading each row once, also without statistics', async () => {
    const { found, read } = await opened.rig().database.inTransaction('system', async (tx) => {
      const watched = watchedRows(tx);
      return { found: await unloggedEvents(watched.tx, 10), read: watched.read() };
    });
    expect(found).toHaveLength(1);
    expect(read).toBeLessThan(3 * EVENTS);
  });
});
