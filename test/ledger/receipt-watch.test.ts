import { setImmediate as nextTurn } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Header } from '../../src/core/cose/labels.js';
import { decodeSign1 } from '../../src/core/cose/sign1.js';
import { countedKeys } from '../../src/ledger/log-keys.js';
import { createReceiptWatch, SEAL_PUBLISHED } from '../../src/ledger/receipt-watch.js';
import { statementReceipts } from '../../src/ledger/receipts.js';
import type { SealedBatch } from '../../src/ledger/sealed-batch.js';
import { localAnnouncements } from '../../src/platform/postgres/announcements.js';
import type { Database } from '../../src/platform/postgres/database.js';
import { countedTransactions } from '../support/counted-transactions.js';
import { engines } from '../support/engines.js';
import { type Opened, openEngine } from './test-engines.js';

const LONG_MS = 20_000;
const silent = pino({ level: 'silent' });
let opened: Opened;
beforeAll(async () => {
  opened = await openEngine(engines()[0]!);
});
afterAll(() => opened?.close());

/** A watch over a log of the rig's, and how many transactions it has begun. */
async function watched(lookAfterMs = LONG_MS) {
  const rig = opened.rig();
  const announcements = localAnnouncements();
  const { database, asked } = countedTransactions(rig.database);
  const log = await rig.newLog('RFC9162_SHA256');
  const wanted: string[] = [];
  const watch = createReceiptWatch({
    database,
    announcements,
    keyring: rig.keyring,
    logger: silent,
    wanted: ({ logId }) => void wanted.push(logId),
    lookAfterMs,
  });
  const publish = async (): Promise<void> => {
    await rig.drain(log);
    announcements.announce(SEAL_PUBLISHED, log.logId);
  };
  return { rig, log, watch, wanted, asked, announcements, publish };
}

it('reads a new entry once, when its seal is announced, and once for all who wait', async () => {
  const { rig, log, watch, asked, publish } = await watched();
  const followed = watch.follow(log);
  const [first, second] = await rig.accept(log, 'statement', 2);
  const waiting = [first!, second!, first!].map((entryId) => followed.receipt(entryId, LONG_MS));
  expect(asked.transactions).toBe(0);
  await publish();
  const receipts = await Promise.all(waiting);
  expect(receipts.every((receipt) => receipt instanceof Uint8Array)).toBe(true);
  expect(receipts[2]).toEqual(receipts[0]);
  expect(asked.transactions).toBe(1);
  expect(await watch.read(log, second!)).toEqual(receipts[1]);
  expect(asked.transactions).toBe(1);
});

it('finds an entry whose seal was announced between its acceptance and the wait', async () => {
  const { rig, log, watch, publish } = await watched();
  const followed = watch.follow(log);
  const [entry] = await rig.accept(log, 'statement', 1);
  await publish();
  expect(await followed.receipt(entry!, LONG_MS)).toBeInstanceOf(Uint8Array);
});

it('finds an entry although the announcement is lost', async () => {
  const { rig, log, watch } = await watched(100);
  const followed = watch.follow(log);
  const [entry] = await rig.accept(log, 'statement', 1);
  const waiting = followed.receipt(entry!, LONG_MS);
  await rig.drain(log);
  expect(await waiting).toBeInstanceOf(Uint8Array);
});

it('tells the ledger once that somebody waits for an entry, if it is not sealed yet', async () => {
  const { rig, log, wanted, watch, publish } = await watched();
  const [entry] = await rig.accept(log, 'statement', 1);
  const waiting = watch.receipt(log, entry!, LONG_MS);
  await expect.poll(() => wanted).toEqual([log.logId]);
  await publish();
  expect(await waiting).toBeInstanceOf(Uint8Array);
  const deps = { announcements: localAnnouncements(), logger: silent, wanted: () => void wanted.push('sealed') };
  const later = createReceiptWatch({ ...rig, ...deps });
  expect(await later.receipt(log, entry!, LONG_MS)).toEqual(await waiting);
  expect(wanted).toEqual([log.logId]);
});

it('hands out no receipt that it kept once its key was revoked, if the log has another one', async () => {
  const { rig, log, watch, publish } = await watched();
  const [entry] = await rig.accept(log, 'statement', 1);
  await publish();
  const before = await watch.read(log, entry!);
  rig.keyring.rotate('statement_receipt');
  expect(await watch.read(log, entry!)).toEqual(before);
  rig.keyring.revokeEarlier('statement_receipt');
  await rig.accept(log, 'statement', 1);
  await publish();
  const after = await watch.receipt(log, entry!, LONG_MS);
  expect(after).not.toEqual(before);
  expect(await watch.read(log, entry!)).toEqual(after);
});

describe('after the key of its seal was revoked, the watch keeps no receipt', () => {
  const kidOf = (receipt: Uint8Array | undefined) => decodeSign1(receipt!).protectedHeader.get(Header.kid);

  async function scene() {
    const made = await watched();
    const { keyring } = made.rig;
    const first = keyring.signer('statement_receipt').kid;
    const revoke = () => keyring.revokeEarlier('statement_receipt');
    return { ...made, first, rotate: () => keyring.rotate('statement_receipt'), revoke };
  }

  it('that was being read when the revocation became known', async () => {
    const { rig, log, publish, first, rotate, revoke } = await scene();
    const [entry] = await rig.accept(log, 'statement', 1);
    await publish();
    rotate();
    await rig.accept(log, 'statement', 1);
    await publish();
    const inTransaction: Database['inTransaction'] = (scope, work) =>
      rig.database.inTransaction(scope, async (tx) => {
        const result = await work(tx);
        revoke();
        return result;
      });
    const deps = { announcements: localAnnouncements(), logger: silent, wanted: () => undefined };
    const watch = createReceiptWatch({ ...rig, ...deps, database: { ...rig.database, inTransaction } });
    expect(kidOf(await watch.read(log, entry!))).toEqual(first);
    expect(kidOf(await watch.read(log, entry!))).toEqual(rig.keyring.signer('statement_receipt').kid);
    watch.close();
  });

  it('that was read before the log had another seal', async () => {
    const { rig, log, watch, publish, first, rotate, revoke } = await scene();
    const [entry] = await rig.accept(log, 'statement', 1);
    await publish();
    rotate();
    revoke();
    expect(kidOf(await watch.read(log, entry!))).toEqual(first);
    await rig.accept(log, 'statement', 1);
    await publish();
    expect(kidOf(await watch.read(log, entry!))).toEqual(rig.keyring.signer('statement_receipt').kid);
    watch.close();
  });

  it.each([
    { title: 'that somebody waits for', waits: true },
    { title: 'that it remembers', waits: false },
  ])('of a batch $title', async ({ waits }) => {
    const { rig, log, watch, announcements, first, rotate, revoke } = await scene();
    rig.onPublished = ({ logId }, batch) => {
      // The ledger's thread sealed before it knew of the revocation.
      rotate();
      revoke();
      announcements.announce(SEAL_PUBLISHED, logId, structuredClone(batch));
    };
    const followed = watch.follow(log);
    const [entry] = await rig.accept(log, 'statement', 1);
    const waiting = waits && followed.receipt(entry!, LONG_MS);
    await rig.drain(log);
    if (waiting) expect(kidOf(await waiting)).toEqual(first);
    rig.onPublished = ({ logId }, batch) => announcements.announce(SEAL_PUBLISHED, logId, structuredClone(batch));
    await rig.accept(log, 'statement', 1);
    await rig.drain(log);
    const { kid } = rig.keyring.signer('statement_receipt');
    expect(kidOf(await followed.receipt(entry!, LONG_MS))).toEqual(kid);
    expect(kidOf(await watch.read(log, entry!))).toEqual(kid);
    watch.close();
  });
});

it('ends with nothing when the time is over, and goes on for who waits longer', async () => {
  const { rig, log, watch, publish } = await watched();
  const [entry] = await rig.accept(log, 'statement', 1);
  const patient = watch.receipt(log, entry!, LONG_MS);
  expect(await watch.receipt(log, entry!, 20)).toBeUndefined();
  await publish();
  expect(await patient).toBeInstanceOf(Uint8Array);
});

it('makes the receipts of what this process sealed without a query, byte for byte as the database has them', async () => {
  const { rig, log, watch, asked } = await watched();
  const announcements = localAnnouncements();
  const wanted: string[] = [];
  const own = createReceiptWatch({
    database: { ...rig.database, inTransaction: () => Promise.reject(new Error('no query is needed')) },
    announcements,
    keyring: rig.keyring,
    logger: silent,
    wanted: ({ logId }) => void wanted.push(logId),
    lookAfterMs: LONG_MS,
  });
  rig.onPublished = ({ logId }, batch) =>
    // As it comes from another thread.
    announcements.announce(SEAL_PUBLISHED, logId, structuredClone(batch) as SealedBatch);
  const accepted: string[] = [];
  for (const count of [1, 2, 5, 1, 7, 40, 3]) {
    const fresh = await rig.accept(log, 'statement', count);
    const followed = own.follow(log);
    const waiting = fresh.map((entryId) => followed.receipt(entryId, LONG_MS));
    await rig.drain(log);
    const stored = await rig.database.inTransaction('system', (tx) =>
      statementReceipts(tx, log, fresh, countedKeys(rig.keyring)),
    );
    expect(await Promise.all(waiting)).toEqual(fresh.map((entryId) => stored.get(entryId)));
    accepted.push(...fresh);
  }
  expect(wanted).toHaveLength(accepted.length);
  expect(new Set(wanted)).toEqual(new Set([log.logId]));
  expect(await watch.read(log, accepted[3]!)).toEqual(await own.read(log, accepted[3]!));
  expect(asked.transactions).toBe(1);
  own.close();
});

it('makes many receipts in pieces, with other work in between', async () => {
  const { rig, log, watch, asked, announcements } = await watched();
  rig.onPublished = ({ logId }, batch) => announcements.announce(SEAL_PUBLISHED, logId, structuredClone(batch));
  const followed = watch.follow(log);
  const fresh = await rig.accept(log, 'statement', 1_000);
  let left = fresh.length;
  const waiting = fresh.map(async (entryId) => {
    const receipt = await followed.receipt(entryId, LONG_MS);
    left -= 1;
    return receipt;
  });
  const leftAfterATurn = waiting[0]!.then(() => nextTurn()).then(() => left);
  await rig.drain(log);
  expect(await leftAfterATurn).toBeGreaterThan(0);
  expect((await Promise.all(waiting)).every((receipt) => receipt instanceof Uint8Array)).toBe(true);
  expect(asked.transactions).toBe(0);
  watch.close();
});

it.each([
  { title: 'without a query what this process sealed between its acceptance and the wait', later: 3, queries: 0 },
  { title: 'with a query what it sealed too many batches ago', later: 8, queries: 1 },
])('finds $title', async ({ later, queries }) => {
  const { rig, log, watch, asked, announcements } = await watched();
  rig.onPublished = ({ logId }, batch) => announcements.announce(SEAL_PUBLISHED, logId, structuredClone(batch));
  const followed = watch.follow(log);
  const [entry] = await rig.accept(log, 'statement', 1);
  await rig.drain(log);
  for (let batch = 0; batch < later; batch += 1) {
    await rig.accept(log, 'statement', 2);
    await rig.drain(log);
  }
  const receipt = await followed.receipt(entry!, LONG_MS);
  expect(asked.transactions).toBe(queries);
  const stored = await rig.database.inTransaction('system', (tx) =>
    statementReceipts(tx, log, [entry!], countedKeys(rig.keyring)),
  );
  expect(receipt).toEqual(stored.get(entry!));
  watch.close();
});
