import type { StagedObject } from '../platform/object-store.js';
import type { LedgerContext } from './ledger-context.js';
import type { LogState } from './log.js';
import { LogInconsistent } from './log-inconsistent.js';
import { leasedLog, SEQUENCER, swapPublished } from './log-store.js';
import { fillsMassif, publishMassif } from './publish-massif.js';
import { checkNoLaterSeal, sealObjectBytes, sealObjectKey } from './seal-object.js';
import { findSeal, type SealRow } from './seal-store.js';
import type { SealedBatch } from './sealed-batch.js';
import type { StagedSeal } from './staged-seal.js';

interface PublishOptions {
  /** What becomes of the lease with the last step; renewed unless told. */
  readonly lease?: 'renewed' | 'ended';
  /** What the seal was the first to cover, for those who wait for its receipts. */
  readonly batch?: SealedBatch | undefined;
  /** Its object, if it was staged. */
  readonly staged?: StagedSeal | undefined;
}

/**
 * Publishes the last seal of a log in three steps: under its number, which is create-only; with the massif that it fills,
 * if it fills one; in the log's row. From then on it can back receipts. Every step is idempotent, so the next round
 * finishes what a crash interrupts. Resolves with the log as it is then.
 * @throws {LeaseLost} if this holder no longer holds the log
 * @throws {LogInconsistent} if the object store has a different seal under this number, or a later one
 */
export async function publishSeal(
  context: LedgerContext,
  log: LogState,
  seal: SealRow,
  { lease = 'renewed', batch, staged }: PublishOptions = {},
): Promise<LogState> {
  await context.failpoints.reach('publish.before');
  const [numbered] = await Promise.all([
    staged?.numbered,
    staged?.isLast ?? checkNoLaterSeal(context.objectStore, log),
  ]);
  let publishing: Promise<void> | undefined;
  // A repeated transaction finds the objects published: what was staged is used up.
  const objects = (): Promise<void> => (publishing ??= publishObjects(context, log, seal, numbered));
  // A massif is read from the database, and where there is one connection, others would wait for it.
  if (context.database.connections === 1 || fillsMassif(log, seal)) await objects();
  await markPublished(context, log, lease, objects);
  context.published({ tenantId: log.tenantId, logId: log.logId }, batch);
  await context.failpoints.reach('publish.after');
  return { ...log, publishedNumber: log.sealNumber, publishedSize: log.sealedSize };
}

async function publishObjects(
  context: LedgerContext,
  log: LogState,
  seal: SealRow,
  numbered: StagedObject | undefined,
): Promise<void> {
  const key = sealObjectKey(log, seal.sealNumber);
  const bytes = sealObjectBytes(log.structure, seal);
  if ((await context.objectStore.putNew(key, bytes, numbered)) === 'different')
    throw new LogInconsistent(`the object store has another seal ${seal.sealNumber} than the database`);
  await context.failpoints.reach('publish.numbered');
  if (fillsMassif(log, seal)) await publishMassif(context, log, seal);
  await context.failpoints.reach('publish.files');
}

/** Commits the log's row, which the database changes while the objects are published. */
function markPublished(
  { database, failpoints }: LedgerContext,
  log: LogState,
  lease: 'renewed' | 'ended',
  objects: () => Promise<void>,
): Promise<void> {
  return database.commitTogether(SEQUENCER, [swapPublished(log, lease)], async () => {
    await objects();
    await failpoints.reach('publish.inside');
  });
}

/** Publishes the last seal if a crash left it unpublished, and resolves with the log as it is then. */
export async function publishStoredSeal(context: LedgerContext, lease: LogState): Promise<LogState> {
  if (lease.sealNumber === lease.publishedNumber) return lease;
  const { log, seal } = await context.database.inTransaction('system', async (tx) => {
    const current = await leasedLog(tx, lease);
    return { log: current, seal: await findSeal(tx, current, current.sealNumber) };
  });
  if (!seal) throw new LogInconsistent(`seal ${log.sealNumber} is not stored`);
  return publishSeal(context, log, seal);
}
