import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toBase64Url } from '../../src/core/bytes.js';
import { publishedState } from '../../src/ledger/checkpoint-note.js';
import { explainLog } from '../../src/ledger/halted/explain-log.js';
import { insertIntake, isWaiting } from '../../src/ledger/intake-store.js';
import type { LogRef, LogStructure } from '../../src/ledger/log.js';
import { countedKeys } from '../../src/ledger/log-keys.js';
import { takeLease } from '../../src/ledger/log-store.js';
import { massifObjectKey, massifView } from '../../src/ledger/massif-view.js';
import { mmrReceipt } from '../../src/ledger/receipts.js';
import { sealObjectKey } from '../../src/ledger/seal-object.js';
import { entryBundle } from '../../src/ledger/tile-view.js';
import { executeAll } from '../../src/platform/postgres/execute-all.js';
import { engines } from '../support/engines.js';
import { faultsOf, stateOf } from './forked-log.js';
import type { LedgerRig } from './ledger-rig.js';
import { type Opened, openEngine } from './test-engines.js';
import { unseal } from './unsealed-log.js';

type Kind = 'asset_event' | 'statement';
const LOGS: readonly (readonly [LogStructure, Kind])[] = [
  ['MMR_SHA256', 'asset_event'],
  ['RFC9162_SHA256', 'statement'],
];
const SECOND = 2n;
const another = Uint8Array.of(1);
type Change = (log: LogRef, rig: LedgerRig) => Promise<unknown>;

let opened: Opened;
beforeAll(async () => {
  opened = await openEngine(engines().at(-1)!);
});
afterAll(() => opened.close());

const asOwner =
  (sql: string): Change =>
  ({ logId }) =>
    opened.asOwner(sql, [logId]);

describe.each(LOGS)('a log of %s', (structure, kind) => {
  /** A log with a seal over two leaves. */
  async function sealed() {
    const rig = opened.rig();
    const log = await rig.newLog(structure);
    await rig.accept(log, kind, 2);
    await rig.drain(log);
    return { rig, log, before: await stateOf(rig, log) };
  }

  /** The second seal is stored, and the process stops before it publishes it. */
  async function unpublished() {
    const { rig, log, before } = await sealed();
    await rig.accept(log, kind, 1);
    rig.onReach = (name) => {
      if (name === 'publish.before') throw new Error('killed');
    };
    await expect(rig.drain(log)).rejects.toThrow('killed');
    return { rig: rig.sibling(), log, before };
  }

  it.each<[string, Change, string]>([
    [
      'the row has a sealed size and no seal',
      asOwner('UPDATE archivist.log SET seal_number = 0, published_number = 0 WHERE log_id = $1'),
      'the log has a sealed size and no seal',
    ],
    [
      'its seal, with peaks that are the signed ones, was moved to another size',
      async ({ logId }) => {
        // The only peak of two leaves, at node 2, where the peak of four leaves would be.
        await opened.asOwner(
          `UPDATE archivist.node_page SET nodes = nodes || nodes || substring(nodes FROM 65) WHERE log_id = $1`,
          [logId],
        );
        await opened.asOwner('UPDATE archivist.seal SET size = 7, leaves = 4 WHERE log_id = $1', [logId]);
        await opened.asOwner(
          'UPDATE archivist.log SET leaves = 4, size = 7, sealed_size = 7, published_size = 7 WHERE log_id = $1',
          [logId],
        );
      },
      structure === 'MMR_SHA256' ? 'seal 1 is stored under another size' : 'the object store has another seal 1',
    ],
  ])('halts and signs nothing more where %s', async (_, change, reason) => {
    const { rig, log } = await sealed();
    await change(log, rig);
    await rig.accept(log, kind, 1);
    await rig.sibling().drain(log);
    expect((await stateOf(rig, log)).halted).toContain(reason);
    expect(await rig.objectStore.get(sealObjectKey(log, SECOND))).toBeUndefined();
  });

  it.each<[string, Change, string]>([
    [
      'the row counts another leaf',
      asOwner('UPDATE archivist.log SET leaves = leaves + 1 WHERE log_id = $1'),
      'a log of 6 leaves does not have 8 nodes',
    ],
    [
      'the row has another last time than the last leaf',
      asOwner(`UPDATE archivist.log SET last_idtimestamp = set_byte(last_idtimestamp, 7, 255) WHERE log_id = $1`),
      'leaf 4 is not the last one that the log gave a time',
    ],
    [
      'the last seal is not in the object store',
      (log, rig) => rig.objectStore.remove(sealObjectKey(log, 1n)),
      'published seal 1 is not in the object store',
    ],
    ...(kind === 'statement'
      ? [
          [
            'the last statement is gone',
            asOwner(
              `DELETE FROM archivist.statement s USING archivist.leaf l
                WHERE l.log_id = $1 AND l.leaf_index = 4 AND s.event_id = l.entry_id`,
            ),
            'the entry of leaf 4 is gone',
          ] satisfies [string, Change, string],
        ]
      : []),
  ])('halts before it signs leaves that have no seal yet where %s', async (_, change, reason) => {
    const { rig, log, before } = await sealed();
    await rig.accept(log, kind, 3);
    await rig.drain(log);
    await unseal(opened, rig, log, before);
    await change(log, rig);
    await rig.sibling().drain(log);
    const { halted, sealNumber } = await stateOf(rig, log);
    expect([halted, sealNumber]).toEqual([reason, 1n]);
    expect(await rig.objectStore.get(sealObjectKey(log, SECOND))).toBeUndefined();
  });

  it.each<[string, Change, string, Uint8Array | undefined]>([
    [
      'the seal is not stored',
      asOwner('DELETE FROM archivist.seal WHERE log_id = $1 AND seal_number = 2'),
      'seal 2 is not stored',
      undefined,
    ],
    [
      'the object store has another seal under its number',
      (log, rig) => rig.objectStore.putNew(sealObjectKey(log, SECOND), another),
      'the object store has another seal 2 than the database',
      another,
    ],
  ])('halts, and shows no seal that a crash left unpublished, where %s', async (_, change, reason, object) => {
    const { rig, log } = await unpublished();
    await change(log, rig);
    await rig.drain(log);
    const { halted, publishedNumber } = await stateOf(rig, log);
    expect([halted, publishedNumber]).toEqual([reason, 1n]);
    expect(await rig.objectStore.get(sealObjectKey(log, SECOND))).toEqual(object);
  });

  it('makes no seal for an entry that has no leaf yet, nor for one that it has already', async () => {
    const { rig, log, before } = await sealed();
    const [entryId] = (await rig.accept(log, kind, 1)) as [string];
    const [committed] = [...rig.entries.secrets.keys()] as [string];
    const secret = rig.entries.secrets.get(entryId)!;
    rig.entries.secrets.delete(entryId);
    const again = { ...log, entryId: committed, entryKind: kind, entryTenantId: log.tenantId, entryLength: 32 };
    await rig.database.inTransaction('system', (tx) => executeAll(tx, insertIntake([again])));
    const waits = (id: string) => rig.database.inTransaction('system', (tx) => isWaiting(tx, log, id));
    await rig.drain(log);
    const { leaves, sealNumber, halted } = await stateOf(rig, log);
    expect({ leaves, sealNumber, halted }).toEqual({ leaves: before.leaves, sealNumber: 1n, halted: null });
    expect([await waits(committed), await waits(entryId)]).toEqual([false, true]);
    rig.entries.secrets.set(entryId, secret);
    await rig.drain(log);
    expect((await stateOf(rig, log)).leaves).toBe(before.leaves + 1n);
  });

  it('is left by a process that loses it after it has published what a crash left, before it adds anything', async () => {
    const { rig, log } = await unpublished();
    const accepted = await rig.accept(log, kind, 1);
    const thief = rig.sibling();
    rig.onReach = async (name) => {
      if (name !== 'publish.after') return;
      await asOwner('UPDATE archivist.log SET lease_until = now() WHERE log_id = $1')(log, rig);
      await rig.database.inTransaction('system', (tx) => takeLease(tx, log, thief.state.holder));
    };
    await rig.drain(log);
    expect(rig.messages).toContain('another sequencer has taken the log over');
    expect(await stateOf(rig, log)).toMatchObject({ leaves: 3n, publishedNumber: SECOND });
    await thief.drain(log);
    expect((await stateOf(rig, log)).leaves).toBe(3n + BigInt(accepted.length));
  });
});

describe('what is served of a damaged log', () => {
  it('is no receipt where the signature over its peak is gone', async () => {
    const rig = opened.rig();
    const log = await rig.newLog('MMR_SHA256');
    const [entry] = await rig.accept(log, 'asset_event', 2);
    await rig.drain(log);
    await asOwner('DELETE FROM archivist.peak_receipt WHERE log_id = $1')(log, rig);
    await expect(
      rig.database.inTransaction('system', (tx) => mmrReceipt(tx, log, entry!, 'draft', countedKeys(rig.keyring))),
    ).rejects.toThrow('the signature over peak 2 is not stored');
  });

  it('is no massif where a leaf has lost its trie key', async () => {
    const rig = opened.rig();
    const log = await rig.newLog('MMR_SHA256');
    await rig.accept(log, 'asset_event', 2);
    await rig.drain(log);
    await asOwner('UPDATE archivist.leaf SET trie_key = NULL WHERE log_id = $1 AND leaf_index = 1')(log, rig);
    await expect(rig.database.inTransaction('system', (tx) => massifView(tx, log, 0))).rejects.toThrow(
      'a leaf of a massif has no trie key',
    );
  });

  it('is no checkpoint where its seal is gone', async () => {
    const rig = opened.rig();
    const log = await rig.newLog('RFC9162_SHA256');
    await rig.accept(log, 'statement', 1);
    await rig.drain(log);
    await asOwner('DELETE FROM archivist.seal WHERE log_id = $1')(log, rig);
    await expect(rig.database.inTransaction('system', (tx) => publishedState(tx, log))).rejects.toThrow(
      'seal 1 is not stored',
    );
  });

  it('is no tile of entries with a gap, nor one whose entry is longer than its length can say', async () => {
    const rig = opened.rig();
    const log = await rig.newLog('RFC9162_SHA256');
    const accepted = await rig.accept(log, 'statement', 2);
    await rig.drain(log);
    const bundle = () =>
      rig.database.inTransaction('system', (tx) => entryBundle(tx, log, { index: 0n, width: accepted.length }));
    const setEntry = (bytes: number) =>
      opened.asOwner(`UPDATE archivist.statement SET entry = decode(repeat('00', $2), 'hex') WHERE event_id = $1`, [
        accepted[1],
        bytes,
      ]);
    await setEntry(0xffff);
    expect((await bundle())!.subarray(-0xffff - 2, -0xffff)).toEqual(Uint8Array.of(0xff, 0xff));
    await setEntry(0x10000);
    expect(await bundle()).toBeUndefined();
    await opened.asOwner('DELETE FROM archivist.statement WHERE event_id = $1', [accepted[1]]);
    await expect(bundle()).rejects.toThrow('entry 1 is not stored');
  });
});

describe('the audit', () => {
  it('finds that the row of a seal over a statement log names another key than the one that signed', async () => {
    const rig = opened.rig();
    const log = await rig.newLog('RFC9162_SHA256');
    await rig.accept(log, 'statement', 2);
    await rig.drain(log);
    expect(await faultsOf(rig, log)).toEqual([]);
    rig.keyring.rotate('statement_receipt');
    const other = toBase64Url(rig.keyring.signer('statement_receipt').kid);
    await opened.asOwner('UPDATE archivist.seal SET key_id = $2 WHERE log_id = $1', [log.logId, other]);
    expect(await faultsOf(rig, log)).toEqual(['seal 1: its row names a different key than the one that signed']);
  });

  it.each([0, 65])(
    'finds that the massifs of a log are said to be %i high, and still reads the rest',
    async (height) => {
      const rig = opened.rig();
      const log = await rig.newLog('MMR_SHA256');
      await rig.accept(log, 'asset_event', 2);
      await rig.drain(log);
      await opened.asOwner('UPDATE archivist.log SET massif_height = $2 WHERE log_id = $1', [log.logId, height]);
      await rig.objectStore.put(sealObjectKey(log, SECOND), another);
      expect(await faultsOf(rig, log)).toEqual([
        `its row says that massifs are ${height} high`,
        'the object store has seal 2: the database is older than what was published',
      ]);
    },
  );
});

describe('the audit of the files of massifs', () => {
  /** One leaf of a massif of two leaves is published; the process stops before it publishes the second. */
  async function stoppedAtFullMassif() {
    const rig = opened.rig();
    const log = await rig.newLog('MMR_SHA256', 2);
    await rig.accept(log, 'asset_event', 1);
    await rig.drain(log);
    await rig.accept(log, 'asset_event', 1);
    rig.onReach = (name) => {
      if (name === 'publish.before') throw new Error('killed');
    };
    await expect(rig.drain(log)).rejects.toThrow('killed');
    return { rig, log };
  }

  it('finds nothing where a massif is full, but a process has stopped before it published the seal over it', async () => {
    const { rig, log } = await stoppedAtFullMassif();
    expect(await stateOf(rig, log)).toMatchObject({ leaves: 2n, publishedNumber: 1n });
    expect(await faultsOf(rig, log)).toEqual([]);
  });

  it('gives no verdict where the database is lost before a full massif is compared', async () => {
    const rig = opened.rig();
    const log = await rig.newLog('MMR_SHA256', 2);
    await rig.accept(log, 'asset_event', 2);
    await rig.drain(log);
    const { database, objectStore } = rig;
    let isLost = false;
    const { context } = rig.state;
    const losing = {
      ...context,
      objectStore: {
        ...objectStore,
        get: (key: string) => {
          isLost = key === massifObjectKey({ ...log, forks: [] }, 0);
          return objectStore.get(key);
        },
      },
      database: {
        ...database,
        inTransaction: <T>(...[scope, work]: Parameters<typeof database.inTransaction<T>>) => {
          if (!isLost) return database.inTransaction(scope, work);
          isLost = false;
          return Promise.reject(Object.assign(new Error('terminating connection'), { code: '57P01' }));
        },
      },
    };
    const audited = { ...rig, state: { ...rig.state, context: losing } };
    await expect(faultsOf(audited, log)).rejects.toThrow('terminating connection');
  });
});

describe('what the operator is told of a halted log', () => {
  it('is no difference to the object store where neither it nor the database has a seal', async () => {
    const rig = opened.rig();
    const log = await stateOf(rig, await rig.newLog('MMR_SHA256'));
    expect(await explainLog(rig.objectStore, log, undefined)).toEqual({
      finding: 'consistent',
      database: { name: log.name, number: 0n, leaves: 0n },
      objects: undefined,
      newestGeneration: 0,
    });
  });
});
