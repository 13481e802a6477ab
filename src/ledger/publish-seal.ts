import type { LedgerContext } from './ledger-context.js';
import type { LogState } from './log.js';
import { LogInconsistent } from './log-inconsistent.js';
import { boundIdleTime, leasedLog, swapPublished } from './log-store.js';
import type { MassifFiles } from './massif-files.js';
import { checkNoLaterSeal, sealObjectBytes, sealObjectKey } from './seal-object.js';
import { findSeal } from './seal-store.js';

/**
 * Publishes the last seal in three steps: under its number, which is create-only; as the files that clients read; in
 * the log's row. From then on it can back receipts. Every step is idempotent, so the next round finishes what a crash
 * interrupts. Resolves with the log as it is then; unchanged if the last seal is already published.
 * @throws {LeaseLost} if this holder no longer holds the log
 * @throws {LogInconsistent} if the object store has a different seal under this number, or a later one
 */
export async function publishSeal(context: LedgerContext, files: MassifFiles, lease: LogState): Promise<LogState> {
  if (lease.sealNumber === lease.publishedNumber) return lease;
  await context.failpoints.reach('publish.before');
  const { log, seal } = await context.database.inTransaction('system', async (tx) => {
    const current = await leasedLog(tx, lease);
    return { log: current, seal: await findSeal(tx, current, current.sealNumber) };
  });
  if (!seal) throw new LogInconsistent(`seal ${log.sealNumber} is not stored`);
  await checkNoLaterSeal(context.objectStore, log);
  const key = sealObjectKey(log.logId, seal.sealNumber);
  if ((await context.objectStore.putNew(key, sealObjectBytes(log.structure, seal))) === 'different')
    throw new LogInconsistent(`the object store has another seal ${seal.sealNumber} than the database`);
  await context.failpoints.reach('publish.numbered');
  if (log.structure === 'MMR_SHA256') await files.put(context, log, seal);
  await context.failpoints.reach('publish.files');
  await context.database.inTransaction('system', async (tx) => {
    await boundIdleTime(tx);
    await swapPublished(tx, log);
    await context.failpoints.reach('publish.inside');
  });
  context.published(log);
  await context.failpoints.reach('publish.after');
  return { ...log, publishedNumber: log.sealNumber, publishedSize: log.sealedSize };
}
