import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { placedEntries, sealedPlaces, sealedPlacesUnder } from '../../src/ledger/entry-proof-store.js';
import type { Frontier } from '../../src/ledger/frontier.js';
import { isFrontier } from '../../src/ledger/frontier-store.js';
import { deleteIntake, FIRST_ENTRY } from '../../src/ledger/intake-store.js';
import type { LogRef } from '../../src/ledger/log.js';
import { findLog, SEQUENCER, SEQUENCER_READING } from '../../src/ledger/log-store.js';
import { findSeal, peakReceipts, type SealRow, signedRoots } from '../../src/ledger/seal-store.js';
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
  readonly 'Node Type': string;
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
        await this.count(tx, text, values);
        const rows = await tx.query<never>(text, values);
        const of = text.includes('archivist.statement') ? 'statements' : 'entries';
        this.most[of] = Math.max(this.most[of], rows.length);
        return rows;
      },
    };
  }

  /** Runs a statement for its plan. */
  async count(tx: Tx, text: string, values?: readonly unknown[]): Promise<void> {
    const [row] = await tx.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`,
      values,
    );
    const plan = row!['QUERY PLAN'][0].Plan;
    this.pages += plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
    this.#add(plan);
  }

  #add(node: PlanNode): void {
    const table = node['Relation Name'];
    const read = (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];
    // What a change returns was read below it.
    if (table && node['Node Type'] !== 'ModifyTable') this.rows.set(table, (this.rows.get(table) ?? 0) + read);
    for (const each of node.Plans ?? []) this.#add(each);
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

  it('removes what it took and reads nothing else of what waits, with statistics and without', async () => {
    const log = await rig.newLog('MMR_SHA256');
    await fill(log, 'asset_event', 1, WAITING);
    const { entries } = (await batchOf(log)).batch;
    const rowsReadToRemove = async (taken: readonly string[]) => {
      const reads = new Reads();
      const { text, values } = deleteIntake(log, taken);
      await rig.database.inTransaction(SEQUENCER, (tx) => reads.count(tx, text, values));
      return reads.rows.get('intake');
    };
    const ids = entries.map(({ entryId }) => entryId).reverse();
    expect(await rowsReadToRemove(ids.filter((_, place) => place % 2 === 0))).toBeLessThanOrEqual(BATCH);
    await opened.asOwner('ANALYZE archivist.intake');
    expect(await rowsReadToRemove(ids.filter((_, place) => place % 2 === 1))).toBeLessThanOrEqual(BATCH);
    const left = await batchOf(log);
    expect(left.batch.entries[0]!.entryId > firstUuidOf(BATCH + 1)).toBe(true);
    expect(left.batch.entries).toHaveLength(BATCH);
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

  it('reads the seals, signatures and leaves that it asks for and no others, with statistics and without', async () => {
    const log = await rig.newLog('MMR_SHA256');
    for (const table of ['seal', 'peak_receipt', 'leaf'])
      await opened.asOwner(`ALTER TABLE archivist.${table} SET (autovacuum_enabled = off)`);
    await opened.asOwner(
      `WITH n AS (SELECT generate_series(1, 5000) AS n),
       seals AS (INSERT INTO archivist.seal
         (tenant_id, log_id, seal_number, size, leaves, key_id, sealed_at_ms, root, signed)
         SELECT $1, $2, n, 2 * n, n, CASE WHEN n > 4999 THEN 'newest' ELSE 'key' END, n, decode(repeat('00', 32), 'hex'), '\\x00' FROM n),
       receipts AS (INSERT INTO archivist.peak_receipt (tenant_id, log_id, key_id, node_index, receipt)
         SELECT $1, $2, 'key', n, '\\x00' FROM n)
       INSERT INTO archivist.leaf
         (tenant_id, log_id, leaf_index, entry_id, entry_kind, entry_tenant_id, idtimestamp, timestamp_committed)
       SELECT $1, $2, n, (lpad(to_hex(n), 12, '0') || '70000000000000000000')::uuid, 'asset_event', $1,
              '\\x0000000000000000', '' FROM n`,
      [log.tenantId, log.logId],
    );
    const entries = [1, 2_500, 5_000].map((n) => firstUuidOf(n).replace('-0000-', '-7000-'));
    const rowsRead = () =>
      rig.database.inTransaction(SEQUENCER_READING, async (tx) => {
        const reads = new Reads();
        const watched = reads.watching(tx);
        expect((await findSeal(watched, log, 2_500n))?.leaves).toBe(2_500n);
        expect((await signedRoots(watched, log, [1n, 2_500n, 5_001n])).size).toBe(2);
        expect((await peakReceipts(watched, log, 'key', [1n, 2_500n, 5_001n])).size).toBe(2);
        expect(await placedEntries(watched, log, 'asset_event', entries)).toHaveLength(3);
        await sealedPlaces(watched, log, entries);
        await sealedPlacesUnder(watched, log, entries, ['newest', 'none']);
        return [...reads.rows.values()].reduce((sum, rows) => sum + rows, 0);
      });
    expect(await rowsRead()).toBeLessThanOrEqual(SMALL);
    await opened.asOwner('ANALYZE archivist.seal, archivist.peak_receipt, archivist.leaf');
    expect(await rowsRead()).toBeLessThanOrEqual(SMALL);
  });

  it('compares a log with its frontier without reading its other seals and nodes, with statistics and without', async () => {
    const ref = await rig.newLog('RFC9162_SHA256');
    for (const table of ['seal', 'node_page'])
      await opened.asOwner(`ALTER TABLE archivist.${table} SET (autovacuum_enabled = off)`);
    // Two peaks, and two nodes on the last page.
    const [leaves, size] = [4_098n, 8_194n];
    const root = new Uint8Array(32);
    await opened.asOwner(
      `WITH seals AS (INSERT INTO archivist.seal
         (tenant_id, log_id, seal_number, size, leaves, key_id, sealed_at_ms, root, signed)
         SELECT $1, $2, n, 2 * n, n, 'key', n, $4, '\\x00' FROM generate_series(1, $3::int) AS n)
       INSERT INTO archivist.node_page (tenant_id, log_id, page, nodes)
       SELECT $1, $2, n, decode(repeat('00', 32 * CASE WHEN n < 256 THEN 32 ELSE 2 END), 'hex') FROM generate_series(0, 256) AS n`,
      [ref.tenantId, ref.logId, leaves, root],
    );
    await opened.asOwner(
      `UPDATE archivist.log SET size = $2, sealed_size = $2, leaves = $3, seal_number = $3, published_number = $3
        WHERE log_id = $1`,
      [ref.logId, size, leaves],
    );
    const other = root.with(7, 1);
    /** The rows that are read to find whether the log is at this frontier. */
    const rowsRead = (changed: Partial<Frontier>, isThere: boolean) =>
      rig.database.inTransaction(SEQUENCER_READING, async (tx) => {
        const log = (await findLog(tx, ref))!;
        const seal = (await findSeal(tx, log, leaves))!;
        const stored = { log, seal, peaks: [root, root], openPage: [root, root], keyId: '', peakReceipts: new Map() };
        const reads = new Reads();
        const found = await isFrontier(reads.watching(tx), { ...stored, ...changed }, 'holder');
        expect(found !== undefined).toBe(isThere);
        return [...reads.rows.values()].reduce((sum, rows) => sum + rows, 0);
      });
    expect(await rowsRead({}, true)).toBeLessThanOrEqual(SMALL);
    await rowsRead({ peaks: [root, other] }, false);
    await rowsRead({ openPage: [root, other] }, false);
    await rowsRead({ seal: { signed: Uint8Array.of(1) } as SealRow }, false);
    await opened.asOwner('ANALYZE archivist.seal, archivist.node_page');
    expect(await rowsRead({}, true)).toBeLessThanOrEqual(SMALL);
  });
});
