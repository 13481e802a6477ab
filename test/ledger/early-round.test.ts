import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LogRef } from '../../src/ledger/log.js';
import { ClockSkewed } from '../../src/ledger/log-inconsistent.js';
import { findLog } from '../../src/ledger/log-store.js';
import { runRound } from '../../src/ledger/run-round.js';
import { sealObjectKey } from '../../src/ledger/seal-object.js';
import { engines } from '../support/engines.js';
import { comingTo, leftLog } from './coming-rig.js';
import { auditLog } from './ledger-audit.js';
import type { LedgerRig } from './ledger-rig.js';
import { type Opened, openEngine } from './test-engines.js';

const stateOf = async (rig: LedgerRig, log: LogRef) =>
  (await rig.database.inTransaction('system', (tx) => findLog(tx, log)))!;

const isPrepared = (rig: LedgerRig) => expect.poll(() => rig.reached).toContain('seal.signed');

describe.each(engines())('a round with statements that are coming, on %s', (engine) => {
  let opened: Opened;
  beforeAll(async () => {
    opened = await openEngine(engine);
  });
  afterAll(() => opened.close());

  const expireLease = (log: LogRef) =>
    opened.asOwner('UPDATE archivist.log SET lease_until = now() WHERE log_id = $1', [log.logId]);

  it('is prepared before they are committed, and stores them when they are', async () => {
    const rig = opened.rig();
    const { log, accepted } = await leftLog(rig);
    const { coming, entryIds, commit, settle } = comingTo(rig, log, 3);
    const round = runRound(rig.state, log, coming);
    await isPrepared(rig);
    expect((await stateOf(rig, log)).leaves).toBe(1n);
    await commit();
    settle(true);
    expect(await round).toBe(false);
    await auditLog(rig, log, [...accepted, ...entryIds]);
    expect(rig.reached.filter((name) => name === 'seal.signed')).toHaveLength(1);
  });

  it('stores nothing of them if they were not committed, and the next round is as without them', async () => {
    const rig = opened.rig();
    const { log, accepted } = await leftLog(rig);
    const before = await stateOf(rig, log);
    const { coming, settle } = comingTo(rig, log);
    const round = runRound(rig.state, log, coming);
    await isPrepared(rig);
    settle(false);
    expect(await round).toBe(false);
    expect(await stateOf(rig, log)).toEqual(before);
    expect(rig.reached).not.toContain('commit.inside');
    expect((await rig.objectStore.list(`seals/${log.logId}/`)).length).toBe(Number(before.sealNumber));
    accepted.push(...(await rig.accept(log, 'statement', 2)));
    await rig.drain(log);
    await auditLog(rig, log, accepted);
  });

  it('stores nothing of statements that do not wait, whatever was said of them', async () => {
    const rig = opened.rig();
    const { log, accepted } = await leftLog(rig);
    const { coming, settle } = comingTo(rig, log);
    settle(true);
    await runRound(rig.state, log, coming);
    await auditLog(rig, log, accepted);
  });

  it('stores nothing of statements that a round has logged before it was told of them', async () => {
    const rig = opened.rig();
    const { log, accepted } = await leftLog(rig);
    const { coming, entryIds, commit, settle } = comingTo(rig, log, 2);
    await commit();
    settle(true);
    await rig.drain(log);
    expect(await runRound(rig.state, log, coming)).toBe(false);
    await auditLog(rig, log, [...accepted, ...entryIds]);
  });

  it('leaves what waits besides to the next round', async () => {
    const rig = opened.rig();
    const { log, accepted } = await leftLog(rig);
    const waiting = await rig.accept(log, 'statement', 2);
    const { coming, entryIds, commit, settle } = comingTo(rig, log);
    await commit();
    settle(true);
    await runRound(rig.state, log, coming);
    expect((await stateOf(rig, log)).leaves).toBe(2n);
    await rig.drain(log);
    await auditLog(rig, log, [...accepted, ...entryIds, ...waiting]);
  });

  it.each(['before', 'after'])(
    'takes each entry once where another sequencer has the log %s they are committed',
    async (when) => {
      const rig = opened.rig();
      const { log, accepted } = await leftLog(rig);
      const other = rig.sibling();
      const { coming, entryIds, commit, settle } = comingTo(rig, log);
      const round = runRound(rig.state, log, coming);
      await isPrepared(rig);
      if (when === 'before') {
        accepted.push(...(await rig.accept(log, 'statement', 1)));
        await expireLease(log);
        await other.drain(log);
      }
      await commit();
      if (when === 'after') {
        await expireLease(log);
        await other.drain(log);
      }
      await expireLease(log);
      settle(true);
      await round;
      await auditLog(rig, log, [...accepted, ...entryIds]);
    },
  );

  it('reads first in a process that has not left the log, and only if they were committed', async () => {
    const rig = opened.rig();
    const { log, accepted } = await leftLog(rig);
    const restarted = rig.sibling();
    await expireLease(log);
    for (const committed of [false, true]) {
      const { coming, entryIds, commit, settle } = comingTo(rig, log);
      const round = runRound(restarted.state, log, coming);
      // Long enough for a round that does not wait for them.
      await wait(100);
      expect(restarted.state.left.has(log.logId)).toBe(false);
      if (committed) {
        accepted.push(...entryIds);
        await commit();
      }
      settle(committed);
      await round;
      expect((await stateOf(rig, log)).leaves).toBe(BigInt(accepted.length));
    }
    await auditLog(rig, log, accepted);
  });

  it.each([
    [
      'a node of the database is another',
      async (log: LogRef) =>
        void (await opened.asOwner(
          `UPDATE archivist.node_page SET nodes = set_byte(nodes, 7, get_byte(nodes, 7) # 1) WHERE log_id = $1`,
          [log.logId],
        )),
      'hash up to the root',
    ],
    [
      'the object store has a later seal',
      async (log: LogRef, rig: LedgerRig) => {
        const { sealNumber } = await stateOf(rig, log);
        await rig.objectStore.putNew(sealObjectKey(log, sealNumber + 1n), Uint8Array.of(1));
      },
      'the database is older',
    ],
  ])('halts the log before anything is stored where %s', async (_, change, reason) => {
    const rig = opened.rig();
    const { log } = await leftLog(rig);
    await change(log, rig);
    const { coming, commit, settle } = comingTo(rig, log);
    await commit();
    settle(true);
    await runRound(rig.state, log, coming);
    const { halted, leaves } = await stateOf(rig, log);
    expect(halted).toContain(reason);
    expect(leaves).toBe(1n);
  });

  it('stores nothing while the clock differs from the database’s by more than 5 s', async () => {
    const rig = opened.rig();
    const { log, accepted } = await leftLog(rig);
    const { coming, entryIds, commit, settle } = comingTo(rig, log);
    await commit();
    settle(true);
    for (const off of [6_000, -6_000]) {
      rig.nowMs = () => Date.now() + off;
      await expect(runRound(rig.state, log, coming)).rejects.toThrow(ClockSkewed);
      expect((await stateOf(rig, log)).leaves).toBe(1n);
    }
    rig.nowMs = () => Date.now();
    await rig.drain(log);
    await auditLog(rig, log, [...accepted, ...entryIds]);
  });
});
