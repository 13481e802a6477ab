import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { insertLeaves, leafRange } from '../../src/ledger/leaf-store.js';
import { statementEntries } from '../../src/ledger/statement-store.js';
import type { Tx } from '../../src/platform/postgres/database.js';
import { executeAll } from '../../src/platform/postgres/execute-all.js';
import { engines } from '../support/engines.js';
import { type Opened, openEngine } from './test-engines.js';

describe.each(engines())('many leaves of a log on %s', (engine) => {
  let opened: Opened;
  beforeAll(async () => {
    opened = await openEngine(engine);
  });
  afterAll(() => opened.close());

  it('are read by a statement for each thousand, in their order', async () => {
    const rig = opened.rig();
    const log = await rig.newLog('MMR_SHA256');
    const leaves = Array.from({ length: 2_500 }, (_, place) => ({
      entryId: randomUUID(),
      entryKind: 'asset_event' as const,
      entryTenantId: log.tenantId,
      leafIndex: BigInt(place),
      idtimestamp: BigInt(place + 1),
      timestampCommitted: '2026-01-02T03:04:05.678Z',
      trieKey: new Uint8Array(32),
      extraBytes: null,
    }));
    const returned: number[] = [];
    const read = await rig.database.inTransaction('system', async (tx) => {
      await executeAll(tx, insertLeaves(log, leaves));
      const query: Tx['query'] = async (...statement) => {
        const rows = await tx.query<never>(...statement);
        returned.push(rows.length);
        return rows;
      };
      return leafRange({ ...tx, query }, log, 1n, 2_400n);
    });
    expect(read.map(({ entryId }) => entryId)).toEqual(leaves.slice(1, 2_400).map(({ entryId }) => entryId));
    expect(returned).toEqual([1_000, 1_000, 399]);
  });

  it('are committed with all of their statements, however many inserts these need', async () => {
    const rig = opened.rig();
    const log = await rig.newLog('RFC9162_SHA256');
    const made = await rig.accept(log, 'statement', 1_000);
    const { statementSource } = rig.state.context;
    const long = {
      async contents(...asked: Parameters<typeof statementSource.contents>) {
        const found = await statementSource.contents(...asked);
        return found.map(({ content, ...each }) => ({
          ...each,
          content: { template: { ...content.template!, subject: 's'.repeat(1_000) } },
        }));
      },
    };
    Object.assign(rig.state.context, { statementSource: long });
    await rig.drain(log);
    const stored = await rig.database.inTransaction('system', async (tx) => ({
      leaves: (await leafRange(tx, log, 0n, 2_000n)).length,
      statements: await statementEntries(
        tx,
        made.map((eventId) => ({ tenantId: log.tenantId, eventId })),
      ),
    }));
    expect([stored.leaves, stored.statements.length]).toEqual([1_000, 1_000]);
  });

  it('are hashed with other work in between, however long each one takes', async () => {
    const rig = opened.rig();
    const log = await rig.newLog('MMR_SHA256');
    await rig.accept(log, 'asset_event', 5);
    let turns = 0;
    let done = false;
    const turning = (async () => {
      for (; !done; turns += 1) await nextTurn();
    })();
    const { leafSource } = rig.state.context;
    const during = new Set<number>();
    const slow = {
      async leaves(...asked: Parameters<typeof leafSource.leaves>) {
        return (await leafSource.leaves(...asked)).map((each) => ({
          ...each,
          leaf(...given: Parameters<typeof each.leaf>) {
            during.add(turns);
            for (const until = performance.now() + 10; performance.now() < until; );
            return each.leaf(...given);
          },
        }));
      },
    };
    Object.assign(rig.state.context, { leafSource: slow });
    await rig.drain(log);
    done = true;
    await turning;
    expect(during.size).toBeGreaterThanOrEqual(5);
  });
});
