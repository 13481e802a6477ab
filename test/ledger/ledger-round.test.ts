import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { equalBytes } from '../../src/core/bytes.js';
import { Header } from '../../src/core/cose/labels.js';
import { decodeSign1 } from '../../src/core/cose/sign1.js';
import { readMmrReceipt } from '../../src/core/receipt/mmr-receipt.js';
import { verifyStatement } from '../../src/core/verify/verify-statement.js';
import { commits } from '../../src/ledger/entry-proof.js';
import type { LogRef } from '../../src/ledger/log.js';
import { countedKeys } from '../../src/ledger/log-keys.js';
import { findLog, SEQUENCER, SEQUENCER_READING } from '../../src/ledger/log-store.js';
import { massifObjectKey, massifView, sealFileObjectKey, sealView } from '../../src/ledger/massif-view.js';
import { mmrReceipt, mmrReceipts, statementReceipt, statementReceipts } from '../../src/ledger/receipts.js';
import { runRound } from '../../src/ledger/run-round.js';
import { insertMissingStatements, statementBytes } from '../../src/ledger/statement-store.js';
import type { Database, Scope } from '../../src/platform/postgres/database.js';
import { executeAll } from '../../src/platform/postgres/execute-all.js';
import { engines } from '../support/engines.js';
import { auditLog, type Remembered } from './ledger-audit.js';
import type { LedgerRig } from './ledger-rig.js';
import { type Opened, openEngine } from './test-engines.js';

/** Runs a round, and returns the scope of each of its transactions. */
async function scopesOfRound(rig: LedgerRig, log: LogRef): Promise<Scope[]> {
  const scopes: Scope[] = [];
  const { context } = rig.state;
  const { database } = context;
  const counted: Database = {
    ...database,
    inTransaction(scope, work) {
      scopes.push(scope);
      return database.inTransaction(scope, work);
    },
    commitTogether(scope, ...rest) {
      scopes.push(scope);
      return database.commitTogether(scope, ...rest);
    },
  };
  await runRound({ ...rig.state, context: { ...context, database: counted } }, log);
  return scopes;
}

describe.each(engines())('a ledger round on %s', (engine) => {
  let opened: Opened;
  beforeAll(async () => {
    opened = await openEngine(engine);
  });
  afterAll(() => opened.close());

  it('brings entries of every kind into their log once, with receipts that verify and stay the same bytes', async () => {
    const rig = opened.rig();
    const log = await rig.newLog('MMR_SHA256', 3);
    const accepted: string[] = [];
    const remembered: Remembered = new Map();
    for (const [kind, count] of [
      ['asset_event', 1],
      ['asset_event', 6],
      ['asset_free_event', 9],
      ['asset_event', 1],
    ] as const) {
      accepted.push(...(await rig.accept(log, kind, count)));
      await rig.drain(log);
      await auditLog(rig, log, accepted, remembered);
    }
    expect(remembered.size).toBe(17);
  });

  it('signs statements, commits to the stored bytes and proves them to a verifier of RFC 9942', async () => {
    const rig = opened.rig();
    const log = await rig.newLog('RFC9162_SHA256');
    const accepted: string[] = [];
    const remembered: Remembered = new Map();
    for (const count of [1, 2, 13]) {
      accepted.push(...(await rig.accept(log, 'statement', count)));
      await rig.drain(log);
      await auditLog(rig, log, accepted, remembered);
    }
    const entry = await rig.database.inTransaction('system', (tx) => statementBytes(tx, log.tenantId, accepted[0]!));
    const read = await verifyStatement(entry!, { issuerKeys: rig.keyring.jwks('issuer') });
    expect([read.issuer, read.subject]).toEqual(['did:web:archivist.example', `vcon://${accepted[0]}`]);
  });

  it('commits to a statement that was stored before as it is, and keeps the first bytes of two', async () => {
    const rig = opened.rig();
    const log = await rig.newLog('RFC9162_SHA256');
    const [eventId] = await rig.accept(log, 'statement', 1);
    const submitted = { tenantId: log.tenantId, eventId: eventId!, entry: Uint8Array.of(0xd2, 1, 2, 3) };
    await rig.database.inTransaction('system', (tx) => executeAll(tx, insertMissingStatements([submitted])));
    await rig.database.inTransaction('system', (tx) =>
      executeAll(tx, insertMissingStatements([{ ...submitted, entry: Uint8Array.of(9) }])),
    );
    await rig.drain(log);
    await auditLog(rig, log, [eventId!]);
    const stored = await rig.database.inTransaction('system', (tx) => statementBytes(tx, log.tenantId, eventId!));
    expect(equalBytes(stored!, submitted.entry)).toBe(true);
  });

  it.each(['MMR_SHA256', 'RFC9162_SHA256'] as const)(
    'reads a log of %s again when another process has grown it in between',
    async (structure) => {
      const rig = opened.rig();
      const other = rig.sibling();
      const log = await rig.newLog(structure, 3);
      const accepted: string[] = [];
      const remembered: Remembered = new Map();
      for (const each of [rig, rig, other, rig, other, other, rig]) {
        accepted.push(...(await each.accept(log, structure === 'MMR_SHA256' ? 'asset_event' : 'statement', 2)));
        await each.drain(log);
        await auditLog(rig, log, accepted, remembered);
      }
      expect(remembered.size).toBe(14);
    },
  );

  it('tells STORED, COMMITTED and CONFIRMED apart, and hands out no receipt before the seal is published', async () => {
    const rig = opened.rig();
    const log = await rig.newLog('MMR_SHA256');
    const [entryId] = await rig.accept(log, 'asset_event', 1);
    const look = () =>
      rig.database.inTransaction('system', async (tx) => {
        const commit = (await commits(tx, log, 'asset_event', [entryId!])).get(entryId!);
        const receipt = await mmrReceipt(tx, log, entryId!, 'map', countedKeys(rig.keyring));
        const massif = await massifView(tx, log, 0);
        const status = commit ? (commit.published ? 'CONFIRMED' : 'COMMITTED') : 'STORED';
        return [status, receipt !== undefined, massif !== undefined];
      });
    const seen: unknown[] = [await look()];
    rig.onReach = async (name) => {
      if (['commit.after', 'seal.after', 'publish.files'].includes(name)) seen.push(await look());
    };
    await rig.drain(log);
    seen.push(await look());
    const [stored, committed, confirmed] = ['STORED', 'COMMITTED', 'CONFIRMED'].map((status) => [
      status,
      status === 'CONFIRMED',
      status === 'CONFIRMED',
    ]);
    expect(seen).toEqual([stored, committed, committed, committed, confirmed]);
  });

  it('writes in two transactions for a batch of a log that nobody has touched since, and takes the lease with it', async () => {
    const rig = opened.rig();
    const log = await rig.newLog('RFC9162_SHA256');
    const accepted = await rig.accept(log, 'statement', 1);
    await rig.drain(log);
    const before = (await rig.database.inTransaction('system', (tx) => findLog(tx, log)))!;
    accepted.push(...(await rig.accept(log, 'statement', 2)));
    const scopes = await scopesOfRound(rig, log);
    expect(scopes).toEqual([SEQUENCER_READING, SEQUENCER, SEQUENCER]);
    const after = (await rig.database.inTransaction('system', (tx) => findLog(tx, log)))!;
    expect([after.leaseEpoch, after.leaves]).toEqual([before.leaseEpoch + 1n, 3n]);
    await auditLog(rig, log, accepted);
  });

  it.each(['MMR_SHA256', 'RFC9162_SHA256'] as const)(
    'hands out receipts of %s by a key that counts, as soon as a seal has one, after their key was revoked',
    async (structure) => {
      const rig = opened.rig();
      const log = await rig.newLog(structure, 3);
      const kind = structure === 'MMR_SHA256' ? 'asset_event' : 'statement';
      const role = structure === 'MMR_SHA256' ? 'seal' : 'statement_receipt';
      const receipts = async (entries: readonly string[]) =>
        rig.database.inTransaction('system', (tx) => {
          const keys = countedKeys(rig.keyring);
          return structure === 'MMR_SHA256'
            ? mmrReceipts(tx, log, entries, 'draft', keys)
            : statementReceipts(tx, log, entries, keys);
        });
      const kidOf = (receipt: Uint8Array | undefined) => decodeSign1(receipt!).protectedHeader.get(Header.kid);
      const old: string[] = [];
      for (let seal = 0; seal < 3; seal += 1) {
        old.push(...(await rig.accept(log, kind, 2)));
        await rig.drain(log);
      }
      const first = rig.keyring.signer(role).kid;
      const before = await receipts(old);
      rig.keyring.rotate(role);
      rig.keyring.revokeEarlier(role);
      const second = rig.keyring.signer(role).kid;
      expect(await receipts(old), 'no other seal is there yet').toEqual(before);
      const fresh = await rig.accept(log, kind, 1);
      await rig.drain(log);
      const after = await receipts([...old, ...fresh]);
      expect(old.map((entry) => kidOf(before.get(entry)))).toEqual(old.map(() => first));
      expect([...after.keys()].map((entry) => kidOf(after.get(entry)))).toEqual([...old, ...fresh].map(() => second));
      // Each receipt is verified there, as a stranger would.
      await auditLog(rig, log, [...old, ...fresh], new Map());
    },
  );

  it('hands out an MMR receipt in the form that is asked for', async () => {
    const rig = opened.rig();
    const log = await rig.newLog('MMR_SHA256');
    const [, second] = await rig.accept(log, 'asset_event', 3);
    await rig.drain(log);
    await rig.database.inTransaction('system', async (tx) => {
      for (const form of ['map', 'draft'] as const) {
        const read = readMmrReceipt((await mmrReceipt(tx, log, second!, form, countedKeys(rig.keyring)))!);
        expect([read.form, read.index, read.path.length]).toEqual([form, 1n, 1]);
      }
      expect(
        await mmrReceipt(tx, log, '00000000-0000-7000-8000-000000000000', 'map', countedKeys(rig.keyring)),
      ).toBeUndefined();
      expect(
        await statementReceipt(tx, log, '00000000-0000-7000-8000-000000000000', countedKeys(rig.keyring)),
      ).toBeUndefined();
    });
  });

  it.each([
    ['between two rounds', undefined],
    ['while a batch is signed', 'sign.before'],
  ] as const)(
    'keeps receipts as they were when the seal key is rotated %s, and signs the standing peaks anew for new ones',
    async (_, moment) => {
      const rig = opened.rig();
      const log = await rig.newLog('MMR_SHA256', 4);
      const remembered: Remembered = new Map();
      const accepted = await rig.accept(log, 'asset_event', 5);
      await rig.drain(log);
      await auditLog(rig, log, accepted, remembered);
      let rotated = false;
      rig.onReach = (name) => {
        if (rotated || (moment !== undefined && name !== moment)) return;
        rotated = true;
        rig.keyring.rotate('seal');
      };
      if (moment === undefined) rig.onReach('');
      accepted.push(...(await rig.accept(log, 'asset_event', 1)));
      await rig.drain(log);
      await auditLog(rig, log, accepted, remembered);
      const [row] = await opened.asOwner(
        'SELECT count(DISTINCT key_id)::int AS keys FROM archivist.peak_receipt WHERE log_id = $1 AND node_index = 6',
        [log.logId],
      );
      expect(row).toEqual({ keys: 2 });
    },
  );

  it('signs a peak once and uses the signature in every seal in which the peak stands', async () => {
    const rig = opened.rig();
    const log = await rig.newLog('MMR_SHA256');
    for (let round = 0; round < 8; round += 1) {
      await rig.accept(log, 'asset_event', 1);
      await rig.drain(log);
    }
    const [row] = await opened.asOwner('SELECT count(*)::int AS signed FROM archivist.peak_receipt WHERE log_id = $1', [
      log.logId,
    ]);
    // Nodes 0, 2, 3, 6, 7, 9, 10 and 14 stood as a peak at some time; the other seven never did.
    expect(row).toEqual({ signed: 8 });
  });

  it('ends every massif on a seal of exactly its full size, and puts both into the object store then and no earlier', async () => {
    const rig = opened.rig();
    const log = await rig.newLog('MMR_SHA256', 3);
    await rig.accept(log, 'asset_event', 11);
    await rig.drain(log);
    const objects = async (massif: number) =>
      Promise.all([massifObjectKey, sealFileObjectKey].map((key) => rig.objectStore.get(key(log, massif))));
    await rig.database.inTransaction('system', async (tx) => {
      for (const massif of [0, 1, 2]) {
        const views = [await massifView(tx, log, massif), await sealView(tx, log, massif)];
        const isFull = massif < 2;
        expect(views.map((view) => view!.full)).toEqual([isFull, isFull]);
        const served = views.map((view) => new Uint8Array(view!.bytes));
        expect(await objects(massif)).toEqual(isFull ? served : [undefined, undefined]);
      }
      expect(await massifView(tx, log, 3)).toBeUndefined();
      expect(await sealView(tx, log, 3)).toBeUndefined();
    });
  });

  it('commits what it can when one entry has no leaf, and leaves that one waiting', async () => {
    const rig = opened.rig();
    const log = await rig.newLog('MMR_SHA256');
    const accepted = await rig.accept(log, 'asset_event', 3);
    const secret = rig.entries.secrets.get(accepted[1]!)!;
    rig.entries.secrets.delete(accepted[1]!);
    await rig.drain(log);
    expect(rig.messages).toContain('an entry cannot be committed');
    rig.entries.secrets.set(accepted[1]!, secret);
    const committed = await rig.database.inTransaction('system', (tx) => commits(tx, log, 'asset_event', accepted));
    expect([...committed.keys()].sort()).toEqual([accepted[0], accepted[2]]);
    await rig.drain(log);
    await auditLog(rig, log, accepted);
  });

  it('works through batches of a thousand and rounds of eight batches', async () => {
    const rig = opened.rig();
    const [large, long] = [await rig.newLog('MMR_SHA256'), await rig.newLog('MMR_SHA256', 3)];
    const accepted = [
      await rig.accept(large, 'asset_event', 1_001),
      await rig.accept(long, 'asset_event', 40),
    ] as const;
    await rig.drain(large);
    await rig.drain(long);
    await auditLog(rig, large, accepted[0]);
    await auditLog(rig, long, accepted[1]);
    const seals = await rig.database.inTransaction('system', async (tx) => [
      (await findLog(tx, large))!.sealNumber,
      (await findLog(tx, long))!.sealNumber,
    ]);
    expect(seals).toEqual([2n, 10n]);
  });
});
