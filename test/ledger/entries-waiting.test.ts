import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { entriesWaiting } from '../../src/ledger/intake-store.js';
import type { Tx } from '../../src/platform/postgres/database.js';
import { engines } from '../support/engines.js';
import { type Opened, openEngine } from './test-engines.js';

const WAITING = 150_000;

describe.each(engines())('the entries that wait on %s', (engine) => {
  let opened: Opened;
  beforeAll(async () => {
    opened = await openEngine(engine);
    const rig = opened.rig();
    const { tenantId, logId } = await rig.newLog('MMR_SHA256');
    await rig.database.inTransaction('system', (tx) =>
      tx.execute(
        `INSERT INTO archivist.intake (tenant_id, log_id, entry_id, entry_kind, entry_tenant_id, entry_length)
         SELECT $1::uuid, $2::uuid, gen_random_uuid(), 'asset_event', $1::uuid, 900 FROM generate_series(1, $3::int)`,
        [tenantId, logId, WAITING],
      ),
    );
  });
  afterAll(() => opened.close());

  /** Also how many rows were read. */
  const waiting = (most: number) =>
    opened.rig().database.inTransaction('system', async (tx) => {
      const before = await rowsRead(tx);
      const entries = await entriesWaiting(tx, most);
      return { entries, read: (await rowsRead(tx)) - before };
    });

  it('are counted up to a limit below 100,000', async () => {
    expect((await waiting(50_000)).entries).toBe(50_000);
  });

  it('are counted exactly where the limit is near', async () => {
    expect((await waiting(120_000)).entries).toBe(120_000);
    expect((await waiting(WAITING + 1)).entries).toBe(WAITING);
  });

  it('are estimated from a sample where the limit is far', async () => {
    const { entries, read } = await waiting(5_000_000);
    expect(Math.abs(entries - WAITING)).toBeLessThan(WAITING / 2);
    expect(read).toBeLessThan(WAITING);
  });
});

async function rowsRead(tx: Tx): Promise<number> {
  const [row] = await tx.query<{ read: bigint }>(
    `SELECT seq_tup_read + coalesce(idx_tup_fetch, 0) AS read FROM pg_stat_xact_all_tables
      WHERE relid = 'archivist.intake'::regclass`,
  );
  return Number(row!.read);
}
