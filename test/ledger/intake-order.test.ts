import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FIRST_ENTRY } from '../../src/ledger/intake-store.js';
import type { LogRef } from '../../src/ledger/log.js';
import { findLog, SEQUENCER } from '../../src/ledger/log-store.js';
import { firstUuidOf } from '../../src/ledger/uuid-time.js';
import { readBatch, type WaitingBatch } from '../../src/ledger/waiting-batch.js';
import type { Tx } from '../../src/platform/postgres/database.js';
import { engines } from '../support/engines.js';
import type { LedgerRig } from './ledger-rig.js';
import { type Opened, openEngine } from './test-engines.js';

const WAITING = 100_000;
const BATCH = 1_000;
/** Index pages and the like. */
const SMALL = 50;

interface PlanNode {
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly Plans?: readonly PlanNode[];
}

/** What a batch has read: rows by table, and pages. */
class Reads {
  readonly rows = new Map<string, number>();
  /** The most that one query has returned. */
  readonly most = { entries: 0, statements: 0 };
  pages = 0;

  /** Runs every query twice: once for its plan. */
  watching(tx: Tx): Tx {
    return {
      execute: (...statement) => tx.execute(...statement),
      query: async (text, values) => {
        const [row] = await tx.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
          `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`,
          values,
        );
        const plan = row!['QUERY PLAN'][0].Plan;
        this.pages += plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
        this.#count(plan);
        const rows = await tx.query<never>(text, values);
        const of = text.includes('archivist.statement') ? 'statements' : 'entries';
        this.most[of] = Math.max(this.most[of], rows.length);
        return rows;
      },
    };
  }

  #count(node: PlanNode): void {
    const table = node['Relation Name'];
    const read = (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];
    if (table) this.rows.set(table, (this.rows.get(table) ?? 0) + read);
    for (const each of node.Plans ?? []) this.#count(each);
  }
}

describe.each(engines())('a batch of a log with 100,000 waiting entries on %s', (engine) => {
  let opened: Opened;
  let rig: LedgerRig;
  beforeAll(async () => {
    opened = await openEngine(engine);
    rig = opened.rig();
    await opened.asOwner('ALTER TABLE archivist.intake SET (autovacuum_enabled = off)');
  });
  afterAll(() => opened.close());

  /** Entries in the order of their ids, a millisecond apart. */
  const fill = (log: LogRef, kind: string, from: number, count: number) =>
    opened.asOwner(
      `INSERT INTO archivist.intake (tenant_id, log_id, entry_id, entry_kind, entry_tenant_id)
       SELECT $1, $2, (lpad(to_hex(n), 12, '0') || '7' || substr(md5(n::text), 1, 19))::uuid, $3, $1
         FROM generate_series($4::bigint, $4::bigint + $5 - 1) AS n`,
      [log.tenantId, log.logId, kind, from, count],
    );

  async function batchOf(log: LogRef, after = FIRST_ENTRY): Promise<{ batch: WaitingBatch; reads: Reads }> {
    const reads = new Reads();
    const context = { ...rig.state.context, statementSource: { contents: async () => [] } };
    const batch = await rig.database.inTransaction(SEQUENCER, async (tx) =>
      readBatch(reads.watching(tx), context, (await findLog(tx, log))!, after),
    );
    return { batch, reads };
  }

  /** Neither more rows of a table than entries, nor of the intake. */
  function expectNoMore(reads: Reads): void {
    expect(reads.rows.get('intake')).toBe(BATCH);
    for (const [, rows] of reads.rows) expect(rows).toBeLessThanOrEqual(BATCH + SMALL);
  }

  it('reads the rows that it takes and no more, with statistics and without, and not what was taken before', async () => {
    const log = await rig.newLog('MMR_SHA256');
    await fill(log, 'asset_event', 1, WAITING);
    expectNoMore((await batchOf(log)).reads);
    await opened.asOwner('ANALYZE archivist.intake');
    expectNoMore((await batchOf(log)).reads);
    await opened.asOwner('DELETE FROM archivist.intake WHERE log_id = $1', [log.logId]);
    await fill(log, 'asset_event', WAITING + 1, 10);
    const { batch, reads } = await batchOf(log, firstUuidOf(WAITING));
    expect(batch.entries).toHaveLength(10);
    expect(reads.pages).toBeLessThan(200);
  });

  it('reads no more of a statement log, whether the statements are signed or the first ones are not', async () => {
    const log = await rig.newLog('RFC9162_SHA256');
    await fill(log, 'statement', 1, WAITING);
    expectNoMore((await batchOf(log)).reads);
    await opened.asOwner(
      `INSERT INTO archivist.statement (tenant_id, event_id, entry)
       SELECT entry_tenant_id, entry_id, '\\x00' FROM archivist.intake WHERE log_id = $1 ORDER BY entry_id OFFSET 500`,
      [log.logId],
    );
    const { batch, reads } = await batchOf(log);
    expect([batch.entries.length, batch.leaves.size]).toEqual([BATCH, 500]);
    expectNoMore(reads);
    // What is stored of an entry may be long, and the embedded engine runs one statement at a time.
    expect(reads.most).toEqual({ entries: BATCH, statements: 125 });
  });

  it('reads none of the leaves that the log has, with statistics and without', async () => {
    const log = await rig.newLog('MMR_SHA256');
    await opened.asOwner('ALTER TABLE archivist.leaf SET (autovacuum_enabled = off)');
    await opened.asOwner(
      `INSERT INTO archivist.leaf
         (tenant_id, log_id, leaf_index, entry_id, entry_kind, entry_tenant_id, idtimestamp, timestamp_committed)
       SELECT $1, $2, n, gen_random_uuid(), 'asset_event', $1, '\\x0000000000000000', '' FROM generate_series(0, 19999) AS n`,
      [log.tenantId, log.logId],
    );
    await fill(log, 'asset_event', 1, BATCH);
    const leavesRead = async () => (await batchOf(log)).reads.rows.get('leaf');
    expect(await leavesRead()).toBeLessThanOrEqual(BATCH + SMALL);
    await opened.asOwner('ANALYZE archivist.leaf');
    expect(await leavesRead()).toBeLessThanOrEqual(BATCH + SMALL);
  });
});
