import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FIRST_ENTRY, insertIntake, intakeRow } from '../../src/ledger/intake-store.js';
import { leafRange } from '../../src/ledger/leaf-store.js';
import type { LogRef } from '../../src/ledger/log.js';
import { findLog, SEQUENCER } from '../../src/ledger/log-store.js';
import { findSeal } from '../../src/ledger/seal-store.js';
import { insertMissingStatements } from '../../src/ledger/statement-store.js';
import { firstUuidOf } from '../../src/ledger/uuid-time.js';
import { readBatch, type WaitingBatch } from '../../src/ledger/waiting-batch.js';
import type { Tx } from '../../src/platform/postgres/database.js';
import { executeAll } from '../../src/platform/postgres/execute-all.js';
import { engines } from '../support/engines.js';
import type { LedgerRig } from './ledger-rig.js';
import { type Opened, openEngine } from './test-engines.js';

const MIB = 1024 * 1024;
const MOST = 16 * MIB;

describe.each(engines())('batches of long entries on %s', (engine) => {
  let opened: Opened;
  let rig: LedgerRig;
  beforeAll(async () => {
    opened = await openEngine(engine);
    rig = opened.rig();
  });
  afterAll(() => opened.close());

  /** Statements of these lengths that wait for a log, in the order of their ids. */
  async function fill(log: LogRef, lengths: readonly number[]): Promise<string[]> {
    const statements = lengths.map((length, place) => ({
      tenantId: log.tenantId,
      eventId: `${firstUuidOf(place + 1).slice(0, 24)}${randomUUID().slice(-12)}`,
      entry: randomBytes(length),
    }));
    const waiting = statements.map(({ tenantId, eventId, entry }) =>
      intakeRow(log, {
        entryId: eventId,
        entryKind: 'statement',
        entryTenantId: tenantId,
        entryLength: entry.length,
      }),
    );
    for (const statement of statements)
      await rig.database.inTransaction('system', (tx) => executeAll(tx, insertMissingStatements([statement])));
    await rig.database.inTransaction('system', (tx) => executeAll(tx, insertIntake(waiting)));
    return statements.map(({ eventId }) => eventId);
  }

  /** A batch, and how many bytes of statements were read for it. */
  async function batchOf(log: LogRef): Promise<{ batch: WaitingBatch; bytes: number }> {
    let bytes = 0;
    const watching = (tx: Tx): Tx => ({
      ...tx,
      async query(text, values) {
        const rows = await tx.query<never>(text, values);
        for (const { entry } of rows as { entry?: Uint8Array }[]) bytes += entry?.length ?? 0;
        return rows;
      },
    });
    const batch = await rig.database.inTransaction(SEQUENCER, async (tx) =>
      readBatch(watching(tx), rig.state.context, (await findLog(tx, log))!, FIRST_ENTRY),
    );
    return { batch, bytes };
  }

  it('end before they are longer than 16 MiB, and what follows waits in its order for the next ones', async () => {
    const log = await rig.newLog('RFC9162_SHA256');
    const waiting = await fill(log, [...Array(40).fill(MIB), ...Array(100).fill(100)]);
    const { batch, bytes } = await batchOf(log);
    expect(batch.entries.map(({ entryId }) => entryId)).toEqual(waiting.slice(0, 16));
    expect([batch.more, batch.leaves.size, bytes]).toEqual([true, 16, MOST]);
    await rig.drain(log);
    const { leaves, seals } = await rig.database.inTransaction('system', async (tx) => ({
      leaves: await leafRange(tx, log, 0n, 200n),
      seals: await Promise.all([1n, 2n, 3n, 4n].map((number) => findSeal(tx, log, number))),
    }));
    expect(leaves.map(({ entryId }) => entryId)).toEqual(waiting);
    expect(seals.map((seal) => seal?.leaves)).toEqual([16n, 32n, 140n, undefined]);
  });

  it('have at least one entry, however long it is', async () => {
    const log = await rig.newLog('RFC9162_SHA256');
    const waiting = await fill(log, [MOST + 1, MOST, 1]);
    for (const entryId of waiting) {
      const { batch } = await batchOf(log);
      expect(batch.entries.map((entry) => entry.entryId)).toEqual([entryId]);
      expect(batch.more).toBe(entryId !== waiting.at(-1));
      await opened.asOwner('DELETE FROM archivist.intake WHERE entry_id = $1', [entryId]);
    }
  });
});
