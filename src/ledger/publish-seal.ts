import type { LedgerContext } from './ledger-context.js';
import type { LogState } from './log.js';
import { LogInconsistent } from './log-inconsistent.js';
import { boundIdleTime, leasedLog, swapPublished } from './log-store.js';
import type { MassifFiles } from './massif-files.js';
import { checkNoLaterSeal, sealObjectBytes, sealObjectKey } from './seal-object.js';
import { findSeal } from './seal-store.js';

/**
 * Publishes the last seal: under its number, which is create-only, then as the files that clients read, then in the
 * log's row; from there on receipts come from it. Every step can be repeated, so a crash anywhere is made good by doing
 * it again. Resolves with the log as it is then; unchanged when the last seal is published.
 * @throws {LeaseLost} when the log is no longer this holder's
 * @throws {LogInconsistent} when the object store has another seal under this number, or one after it
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
  await context.failpoints.reach('publish.after');
  return { ...log, publishedNumber: log.sealNumber, publishedSize: log.sealedSize };
}
