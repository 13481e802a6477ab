import type { StagedObject } from '../platform/object-store.js';
import type { LedgerContext } from './ledger-context.js';
import type { LogState } from './log.js';
import { LeaseLost, LogInconsistent } from './log-inconsistent.js';
import { leasedLog, SEQUENCER, swapPublished } from './log-store.js';
import type { MassifFiles } from './massif-files.js';
import { checkNoLaterSeal, sealObjectBytes, sealObjectKey } from './seal-object.js';
import { findSeal, type SealRow } from './seal-store.js';
import type { SealedBatch } from './sealed-batch.js';
import type { StagedSeal } from './staged-seal.js';

interface PublishOptions {
  /** What becomes of the lease with the last step; renewed unless told. */
  readonly lease?: 'renewed' | 'ended';
  /** What the seal was the first to cover, for those who wait for its receipts. */
  readonly batch?: SealedBatch | undefined;
  /** Its objects, if they were staged. */
  readonly staged?: StagedSeal | undefined;
}

/**
 * Publishes the last seal of a log in three steps: under its number, which is create-only; as the files that clients
 * read; in the log's row. From then on it can back receipts. Every step is idempotent, so the next round finishes what
 * a crash interrupts. Resolves with the log as it is then.
 * @throws {LeaseLost} if this holder no longer holds the log
 * @throws {LogInconsistent} if the object store has a different seal under this number, or a later one
 */
export async function publishSeal(
  context: LedgerContext,
  files: MassifFiles,
  log: LogState,
  seal: SealRow,
  { lease = 'renewed', batch, staged }: PublishOptions = {},
): Promise<LogState> {
  await context.failpoints.reach('publish.before');
  const [numbered] = await Promise.all([
    staged?.numbered,
    staged?.isLast ?? checkNoLaterSeal(context.objectStore, log),
    // It is staged from the first, which the next step uses up.
    staged?.file,
  ]);
  let publishing: Promise<void> | undefined;
  // A repeated transaction finds the objects published: what was staged is used up.
  const objects = (): Promise<void> => (publishing ??= publishObjects(context, files, { log, seal, numbered, staged }));
  try {
    await markPublished(context, log, lease, objects);
  } catch (error) {
    if (error instanceof LeaseLost && log.structure === 'MMR_SHA256') await files.putNewer(context, log, seal);
    throw error;
  }
  context.published({ tenantId: log.tenantId, logId: log.logId }, batch);
  await context.failpoints.reach('publish.after');
  return { ...log, publishedNumber: log.sealNumber, publishedSize: log.sealedSize };
}

interface ToPublish {
  readonly log: LogState;
  readonly seal: SealRow;
  readonly numbered: StagedObject | undefined;
  readonly staged: StagedSeal | undefined;
}

async function publishObjects(
  context: LedgerContext,
  files: MassifFiles,
  { log, seal, numbered, staged }: ToPublish,
): Promise<void> {
  const key = sealObjectKey(log, seal.sealNumber);
  const bytes = sealObjectBytes(log.structure, seal);
  if ((await context.objectStore.putNew(key, bytes, numbered)) === 'different')
    throw new LogInconsistent(`the object store has another seal ${seal.sealNumber} than the database`);
  await context.failpoints.reach('publish.numbered');
  if (log.structure === 'MMR_SHA256') await files.put(context, log, seal, staged);
  await context.failpoints.reach('publish.files');
}

/**
 * Publishes the objects and then commits the log's row, which the database has changed meanwhile. The row is changed after
 * them where others would wait for the connection, and in an MMR log, whose files may have to be read from the database.
 */
async function markPublished(
  { database, failpoints }: LedgerContext,
  log: LogState,
  lease: 'renewed' | 'ended',
  objects: () => Promise<void>,
): Promise<void> {
  if (database.connections === 1 || log.structure === 'MMR_SHA256') await objects();
  await database.commitTogether(SEQUENCER, [swapPublished(log, lease)], async () => {
    await objects();
    await failpoints.reach('publish.inside');
  });
}

/** Publishes the last seal if a crash left it unpublished, and resolves with the log as it is then. */
export async function publishStoredSeal(
  context: LedgerContext,
  files: MassifFiles,
  lease: LogState,
): Promise<LogState> {
  if (lease.sealNumber === lease.publishedNumber) return lease;
  const { log, seal } = await context.database.inTransaction('system', async (tx) => {
    const current = await leasedLog(tx, lease);
    return { log: current, seal: await findSeal(tx, current, current.sealNumber) };
  });
  if (!seal) throw new LogInconsistent(`seal ${log.sealNumber} is not stored`);
  return publishSeal(context, files, log, seal);
}
