import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { idtimestampMs } from '../../src/core/massif/idtimestamp.js';
import { leafRange } from '../../src/ledger/leaf-store.js';
import type { LogRef, LogState, LogStructure } from '../../src/ledger/log.js';
import { ClockSkewed } from '../../src/ledger/log-inconsistent.js';
import { findLog, takeLease } from '../../src/ledger/log-store.js';
import { sealObjectKey } from '../../src/ledger/seal-object.js';
import { engines } from '../support/engines.js';
import { auditLog, type Remembered } from './ledger-audit.js';
import type { LedgerRig } from './ledger-rig.js';
import { type Opened, openEngine } from './test-engines.js';
import { unseal } from './unsealed-log.js';

const LOGS: readonly (readonly [LogStructure, 'asset_event' | 'statement'])[] = [
  ['MMR_SHA256', 'asset_event'],
  ['RFC9162_SHA256', 'statement'],
];
const TABLES = ['log', 'intake', 'leaf', 'node_page', 'peak_receipt', 'seal'];

const stateOf = async (rig: LedgerRig, log: LogRef): Promise<LogState> =>
  (await rig.database.inTransaction('system', (tx) => findLog(tx, log)))!;

const isLocked = async (rig: LedgerRig, { logId }: LogRef): Promise<boolean> => {
  const free = 'SELECT 1 FROM archivist.log WHERE log_id = $1 FOR NO KEY UPDATE SKIP LOCKED';
  return (await rig.database.inTransaction('system', (tx) => tx.query(free, [logId]))).length === 0;
};

const seals = (rig: LedgerRig, log: LogRef): Promise<string[]> => rig.objectStore.list(`seals/${log.logId}/`);

describe.each(engines())('a log on %s', (engine) => {
  let opened: Opened;
  beforeAll(async () => {
    opened = await openEngine(engine);
  });
  afterAll(() => opened.close());

  /**
   * Places of a publication at which another process can take the log over. The row of a statement log on a server is
   * locked while its seal gets its number.
   */
  const publishing = (structure: LogStructure, late: string): string[] =>
    structure === 'MMR_SHA256' || opened.rig().database.connections === 1
      ? ['publish.before', late]
      : ['publish.before'];

  /** The rows of one log, as a backup of the database has them. */
  async function backUp(log: LogRef): Promise<() => Promise<void>> {
    const kept = new Map<string, unknown>();
    for (const table of TABLES) {
      const [row] = await opened.asOwner(
        `SELECT coalesce(json_agg(t), '[]') AS rows FROM archivist.${table} t WHERE log_id = $1`,
        [log.logId],
      );
      kept.set(table, row!['rows']);
    }
    return async () => {
      for (const table of TABLES) {
        await opened.asOwner(`DELETE FROM archivist.${table} WHERE log_id = $1`, [log.logId]);
        await opened.asOwner(
          `INSERT INTO archivist.${table} SELECT * FROM json_populate_recordset(NULL::archivist.${table}, $1)`,
          [JSON.stringify(kept.get(table))],
        );
      }
    };
  }

  /** Turns one bit in a stored node. */
  const flip = (log: LogRef, node: number) =>
    opened.asOwner(
      `UPDATE archivist.node_page SET nodes = set_byte(nodes, $3, get_byte(nodes, $3) # 4) WHERE log_id = $1 AND page = $2`,
      [log.logId, Math.floor(node / 32), (node % 32) * 32 + 5],
    );

  describe.each(LOGS)('of %s', (structure, kind) => {
    it('is worked on by two ledgers at once and never forks', async () => {
      const [rig] = [opened.rig()];
      const other = rig.sibling();
      const log = await rig.newLog(structure, 4);
      const accepted: string[] = [];
      const remembered: Remembered = new Map();
      let done = false;
      const work = async (ledger: LedgerRig) => {
        while (!done) {
          await ledger.drain(log);
          await wait(Math.random() * 5);
        }
      };
      const working = Promise.all([work(rig), work(other)]);
      for (let batch = 0; batch < 25; batch += 1) {
        accepted.push(...(await rig.accept(log, kind, 1 + (batch % 7))));
        await wait(Math.random() * 10);
      }
      done = true;
      await working;
      await rig.drain(log);
      await auditLog(rig, log, accepted, remembered);
    });

    it('keeps nothing and signs nothing of a round whose lease was taken over', async () => {
      for (const place of ['commit.before', 'seal.before', 'seal.signed', ...publishing(structure, 'publish.files')]) {
        const rig = opened.rig();
        const thief = rig.sibling();
        const log = await rig.newLog(structure, 3);
        const remembered: Remembered = new Map();
        const accepted = await rig.accept(log, kind, 2);
        await rig.drain(log);
        await auditLog(rig, log, accepted, remembered);
        accepted.push(...(await rig.accept(log, kind, 2)));
        let before: LogState | undefined;
        let stored = 0;
        rig.onReach = async (name) => {
          if (name !== place || before) return;
          await opened.asOwner('UPDATE archivist.log SET lease_until = now() WHERE log_id = $1', [log.logId]);
          await rig.database.inTransaction('system', (tx) => takeLease(tx, log, thief.state.holder));
          before = await stateOf(rig, log);
          stored = (await seals(rig, log)).length;
        };
        await rig.drain(log);
        expect([place, await stateOf(rig, log)]).toEqual([place, before]);
        if (!place.startsWith('publish')) expect(await seals(rig, log)).toHaveLength(stored);
        expect(rig.messages).toContainEqual(
          expect.stringMatching(/^another sequencer (has taken the log over|was quicker)$/),
        );
        await thief.drain(log);
        await auditLog(thief, log, accepted, remembered);
      }
    });

    it('goes on under another holder while the first is held up, and what the first then does changes nothing', async () => {
      for (const place of [
        'commit.before',
        'seal.before',
        'seal.signed',
        ...publishing(structure, 'publish.numbered'),
      ]) {
        const rig = opened.rig();
        const other = rig.sibling();
        const log = await rig.newLog(structure, 3);
        const accepted = await rig.accept(log, kind, 3);
        let held = false;
        rig.onReach = async (name) => {
          if (name !== place || held) return;
          held = true;
          await opened.asOwner('UPDATE archivist.log SET lease_until = now() WHERE log_id = $1', [log.logId]);
          accepted.push(...(await rig.accept(log, kind, 7)));
          await other.drain(log);
        };
        await rig.drain(log);
        expect(held).toBe(true);
        // Also the files: the first one's, which it wrote late, must not be older than the newest seal.
        await auditLog(rig, log, accepted);
      }
    });

    it('leaves a log that it knows to the holder of a lease that is valid', async () => {
      const rig = opened.rig();
      const holder = rig.sibling();
      const log = await rig.newLog(structure, 3);
      await rig.accept(log, kind, 2);
      await rig.drain(log);
      const accepted = await rig.accept(log, kind, 1);
      await rig.database.inTransaction('system', (tx) => takeLease(tx, log, holder.state.holder));
      const before = await stateOf(rig, log);
      rig.reached.length = 0;
      await rig.drain(log);
      expect([await stateOf(rig, log), rig.reached]).toEqual([before, []]);
      expect(accepted).toHaveLength(1);
    });

    it('halts, and signs nothing, when its database was restored from an older copy', async () => {
      const rig = opened.rig();
      const log = await rig.newLog(structure, 3);
      await rig.accept(log, kind, 3);
      await rig.drain(log);
      const restore = await backUp(log);
      await rig.accept(log, kind, 3);
      await rig.drain(log);
      const published = await seals(rig, log);
      await restore();
      const restored = await stateOf(rig, log);

      const restarted = rig.sibling();
      await rig.accept(log, kind, 2);
      await restarted.drain(log);
      const { halted, sealNumber, size } = await stateOf(rig, log);
      expect(halted).toContain('the database is older than what was published');
      expect([sealNumber, size]).toEqual([restored.sealNumber, restored.size]);
      expect(await seals(rig, log)).toEqual(published);
      expect(restarted.messages).toContainEqual(expect.stringMatching(/^the log is halted/));
      await restarted.drain(log);
      expect((await stateOf(rig, log)).size).toBe(restored.size);
    });

    it('halts when the object store was restored from an older or another copy', async () => {
      for (const [bytes, reason] of [
        [undefined, 'is not in the object store'],
        [Uint8Array.of(1), 'has another seal'],
      ] as const) {
        const rig = opened.rig();
        const log = await rig.newLog(structure, 3);
        await rig.accept(log, kind, 3);
        await rig.drain(log);
        const key = sealObjectKey(log, (await stateOf(rig, log)).sealNumber);
        const { get } = rig.objectStore;
        Object.assign(rig.objectStore, { get: (wanted: string) => (wanted === key ? bytes : get(wanted)) });
        await rig.accept(log, kind, 1);
        await rig.drain(log);
        expect((await stateOf(rig, log)).halted).toContain(reason);
      }
    });

    it('halts before signing when a bit flipped in a peak that it would build on', async () => {
      const rig = opened.rig();
      const log = await rig.newLog(structure);
      await rig.accept(log, kind, 21);
      await rig.drain(log);
      const sealed = await stateOf(rig, log);
      // 21 leaves: peaks of 16, 4 and 1 leaves at nodes 30, 37 and 38.
      await flip(log, 37);
      await rig.accept(log, kind, 1);
      await rig.drain(log);
      const { halted, size, sealNumber } = await stateOf(rig, log);
      expect(halted).toContain('hash up');
      expect([size, sealNumber]).toEqual([sealed.size, sealed.sealNumber]);
    });

    it('halts before signing when somebody with all rights gave a peak and its seal row another value', async () => {
      const rig = opened.rig();
      const log = await rig.newLog(structure);
      await rig.accept(log, kind, 1);
      await rig.drain(log);
      const forged = new Uint8Array(32).fill(7);
      await opened.asOwner('UPDATE archivist.node_page SET nodes = $2 WHERE log_id = $1', [log.logId, forged]);
      await opened.asOwner('UPDATE archivist.seal SET root = $2 WHERE log_id = $1', [log.logId, forged]);
      await rig.accept(log, kind, 1);
      await rig.drain(log);
      const { halted, sealNumber } = await stateOf(rig, log);
      expect(halted).toContain('does not verify over the stored nodes');
      expect(sealNumber).toBe(1n);
    });

    it('halts, and neither stores nor shows the seal, when a new seal does not prove its last leaf', async () => {
      const rig = opened.rig();
      const log = await rig.newLog(structure);
      await rig.accept(log, kind, 2);
      await rig.drain(log);
      const sealed = await stateOf(rig, log);
      const shown = await seals(rig, log);
      const { signer } = rig.keyring;
      const wrong = (signature: Uint8Array) => signature.with(7, signature[7]! ^ 1);
      rig.keyring.signer = (role) => {
        const right = signer(role);
        return { ...right, sign: async (message) => wrong(await right.sign(message)) };
      };
      await rig.accept(log, kind, 1);
      await rig.drain(log);
      const { halted, size, sealNumber } = await stateOf(rig, log);
      expect(halted).toContain('does not prove its last leaf');
      expect([size, sealNumber, await seals(rig, log)]).toEqual([sealed.size, sealed.sealNumber, shown]);
    });

    it('is sealed where an earlier version stopped between commit and seal', async () => {
      const rig = opened.rig();
      const log = await rig.newLog(structure);
      const accepted = await rig.accept(log, kind, 2);
      await rig.drain(log);
      const sealed = await stateOf(rig, log);
      accepted.push(...(await rig.accept(log, kind, 3)));
      await rig.drain(log);
      await unseal(opened, rig, log, sealed);
      accepted.push(...(await rig.accept(log, kind, 1)));
      const restarted = rig.sibling();
      await restarted.drain(log);
      await auditLog(restarted, log, accepted);
    });

    it.each([
      ['a leaf', 3],
      ['an inner node', 6],
      ['the newest peak', 7],
    ])('halts before signing when a bit has flipped in %s that has no seal yet', async (_, node) => {
      const rig = opened.rig();
      const log = await rig.newLog(structure);
      await rig.accept(log, kind, 2);
      await rig.drain(log);
      const sealed = await stateOf(rig, log);
      await rig.accept(log, kind, 3);
      await rig.drain(log);
      await unseal(opened, rig, log, sealed);
      await flip(log, node);
      await rig.drain(log);
      const { halted, sealNumber } = await stateOf(rig, log);
      expect(halted).toMatch(/hash up|does not prove its last leaf/);
      expect(sealNumber).toBe(sealed.sealNumber);
      expect(await seals(rig, log)).toHaveLength(1);
    });

    it('gives out rising times to leaves and seals when the clock steps back, and none when it is more than 5 s off', async () => {
      const rig = opened.rig();
      const log = await rig.newLog(structure);
      const accepted = await rig.accept(log, kind, 2);
      rig.nowMs = () => Date.now() + 4_000;
      await rig.drain(log);
      rig.nowMs = () => Date.now() - 4_000;
      accepted.push(...(await rig.accept(log, kind, 2)));
      await rig.drain(log);
      await auditLog(rig, log, accepted);
      const rows = await rig.database.inTransaction('system', (tx) => leafRange(tx, log, 1n, 3n));
      expect(idtimestampMs(rows[1]!.idtimestamp)).toBe(idtimestampMs(rows[0]!.idtimestamp));
      const dates = await opened.asOwner(
        'SELECT sealed_at_ms FROM archivist.seal WHERE log_id = $1 ORDER BY seal_number',
        [log.logId],
      );
      const [older, newer] = dates.map((row) => Number(row['sealed_at_ms']));
      expect(newer).toBeGreaterThanOrEqual(older!);

      const waiting = await rig.accept(log, kind, 1);
      for (const off of [6_000, -6_000]) {
        rig.nowMs = () => Date.now() + off;
        await expect(rig.drain(log)).rejects.toThrow(ClockSkewed);
        expect((await stateOf(rig, log)).leaves).toBe(4n);
      }
      rig.nowMs = () => Date.now();
      await rig.drain(log);
      await auditLog(rig, log, [...accepted, ...waiting]);
    });
  });

  it('is left to the holder of a running lease, and taken over when the lease has run out', async () => {
    const [rig, log] = [opened.rig(), await opened.rig().newLog('MMR_SHA256')];
    const accepted = await rig.accept(log, 'asset_event', 1);
    await rig.database.inTransaction('system', (tx) => takeLease(tx, log, 'another process'));
    await rig.drain(log);
    expect((await stateOf(rig, log)).leaves).toBe(0n);
    await opened.asOwner(`UPDATE archivist.log SET lease_until = now() - interval '1 ms' WHERE log_id = $1`, [
      log.logId,
    ]);
    await rig.drain(log);
    await auditLog(rig, log, accepted);
  });

  it('leaves nothing of a batch when the rows under it moved on during the commit', async () => {
    const rig = opened.rig();
    const log = await rig.newLog('MMR_SHA256');
    const accepted = await rig.accept(log, 'asset_event', 2);
    await rig.drain(log);
    accepted.push(...(await rig.accept(log, 'asset_event', 2)));
    const before: bigint[] = [];
    rig.onReach = async (name) => {
      if (name !== 'commit.before') return;
      before.push((await stateOf(rig, log)).leaves);
      if (before.length > 1) return;
      // As another sequencer's transaction leaves the log: under a later epoch.
      await opened.asOwner('UPDATE archivist.log SET lease_epoch = lease_epoch + 1 WHERE log_id = $1', [log.logId]);
    };
    await rig.drain(log);
    expect(before).toEqual([2n, 2n]);
    expect(rig.messages).toContain('another sequencer was quicker');
    await auditLog(rig, log, accepted);
  });

  // The embedded engine runs one transaction at a time.
  describe.skipIf(engine.name !== 'PostgreSQL').concurrent('in the transaction of another sequencer', () => {
    /** Holds up the second batch of a log inside its transaction. */
    async function holdUp(place: string) {
      const rig = opened.rig();
      const log = await rig.newLog('MMR_SHA256');
      const accepted = await rig.accept(log, 'asset_event', 2);
      await rig.drain(log);
      accepted.push(...(await rig.accept(log, 'asset_event', 2)));
      let goOn = () => {};
      const released = new Promise<void>((resolve) => {
        goOn = resolve;
      });
      let drained: Promise<unknown> = Promise.resolve();
      await new Promise<void>((resolve) => {
        rig.onReach = async (name) => {
          if (name !== place) return;
          resolve();
          await released;
        };
        drained = rig.drain(log).catch((error: unknown) => error);
      });
      // It is reached when the statements are sent, not when the database has run them.
      while (!(await isLocked(rig, log))) await wait(10);
      return { rig, log, accepted, drained: () => drained, goOn };
    }

    it('is passed over without waiting', async () => {
      const { rig, log, accepted, drained, goOn } = await holdUp('commit.inside');
      const other = rig.sibling();
      await other.drain(log);
      expect(other.reached).toEqual([]);
      goOn();
      expect(await drained()).toBeUndefined();
      await auditLog(rig, log, accepted);
    });

    it.each(['commit.inside', 'publish.inside'])(
      'is taken over if that one stops there at %s, and what it then does changes nothing',
      async (place) => {
        const { rig, log, accepted, drained, goOn } = await holdUp(place);
        const other = rig.sibling();
        while ((await stateOf(rig, log)).publishedSize !== 7n) {
          await other.drain(log);
          await wait(100);
        }
        // Its connection is lost. What it tries again finds that the log has gone on; a lease of its own changes nothing.
        const written = async () => ({ ...(await stateOf(rig, log)), leaseEpoch: undefined });
        const before = await written();
        goOn();
        await drained();
        expect(await written()).toEqual(before);
        await auditLog(other, log, accepted);
      },
      120_000,
    );
  });
});
