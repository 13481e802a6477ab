import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createReceiptWatch, SEAL_PUBLISHED } from '../../src/ledger/receipt-watch.js';
import { insertMissingStatements } from '../../src/ledger/statement-store.js';
import { localAnnouncements } from '../../src/platform/postgres/announcements.js';
import { executeAll } from '../../src/platform/postgres/execute-all.js';
import { createHeldReceipts } from '../../src/scitt/held-receipts.js';
import { type Opened, openEngine } from '../ledger/test-engines.js';
import { countedTransactions } from '../support/counted-transactions.js';
import { engines } from '../support/engines.js';

let opened: Opened;
beforeAll(async () => {
  opened = await openEngine(engines()[0]!);
});
afterAll(() => opened?.close());

/** Entries that were accepted and answered without their receipts, and how many transactions questions have begun. */
async function begun(count: number) {
  const rig = opened.rig();
  const { database, asked } = countedTransactions(rig.database);
  const log = await rig.newLog('RFC9162_SHA256');
  const announcements = localAnnouncements();
  rig.onPublished = ({ logId }, batch) => announcements.announce(SEAL_PUBLISHED, logId, structuredClone(batch));
  const logger = pino({ level: 'silent' });
  const watching = { database, announcements, keyring: rig.keyring, logger, wanted: () => {}, lookAfterMs: 20_000 };
  const receipts = createReceiptWatch(watching);
  const held = createHeldReceipts({ database, publicTenancy: log.tenantId, publicStatementLog: log, receipts });
  const followed = receipts.follow(log);
  const entries = await rig.accept(log, 'statement', count);
  for (const entry of entries) held.begun(entry, followed);
  const close = () => receipts.close();
  return { rig, log, asked, held, entries, close };
}

it('holds a thousand questions at the same time, and answers the next ones at once', async () => {
  const { rig, log, held, entries, close } = await begun(2);
  const registered = { tenantId: log.tenantId, eventId: entries[1]!, entry: new Uint8Array([1]) };
  await rig.database.inTransaction('system', (tx) => executeAll(tx, insertMissingStatements([registered])));
  const waiting = Array.from({ length: 1_000 }, () => held.receipt(entries[0]!));
  const begunAt = performance.now();
  expect(await held.receipt(entries[1]!)).toBeUndefined();
  expect(performance.now() - begunAt).toBeLessThan(3_000);
  await expect(held.receipt(randomUUID())).rejects.toMatchObject({ code: 'not_found' });
  await rig.drain(log);
  expect((await Promise.all(waiting)).every((receipt) => receipt instanceof Uint8Array)).toBe(true);
  expect(await held.receipt(entries[1]!)).toBeInstanceOf(Uint8Array);
  close();
});

it('asks the database for nothing while the receipts of registrations that have begun here are waited for', async () => {
  const { rig, log, asked, held, entries, close } = await begun(3);
  const waiting = entries.slice(0, 2).map((entry) => held.receipt(entry));
  await rig.drain(log);
  const found = await Promise.all(waiting);
  expect(found.every((receipt) => receipt instanceof Uint8Array)).toBe(true);
  // Who asks after the seal gets it as well, and who asks again the same one.
  expect(await held.receipt(entries[2]!)).toBeInstanceOf(Uint8Array);
  expect(await held.receipt(entries[0]!)).toEqual(found[0]);
  expect(asked.transactions).toBe(0);
  await expect(held.receipt(randomUUID())).rejects.toMatchObject({ code: 'not_found' });
  close();
});
