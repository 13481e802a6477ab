import type { LedgerContext } from './ledger-context.js';
import type { LogState } from './log.js';
import { LogInconsistent } from './log-inconsistent.js';
import { SEQUENCER_READING } from './log-store.js';
import { headMassif, massifBytes, massifLeaves, massifObjectKey, sealFileObjectKey } from './massif-view.js';
import { sealObjectBytes } from './seal-object.js';
import type { SealRow } from './seal-store.js';

/** Whether a seal of this log is the last one of a massif, and the massif never changes again. */
export function fillsMassif(log: LogState, { leaves }: Pick<SealRow, 'leaves'>): boolean {
  return log.structure === 'MMR_SHA256' && leaves % massifLeaves(log) === 0n;
}

/**
 * Writes the massif that a seal fills, and the seal, as files that never change: of two sequencers, both write the same
 * bytes. What still grows is made from the database for each reader.
 * @throws {LogInconsistent} if the database lacks a part of the massif
 */
export async function publishMassif(context: LedgerContext, log: LogState, seal: SealRow): Promise<void> {
  const massif = headMassif(log, seal.leaves);
  const view = await context.database.inTransaction(SEQUENCER_READING, (tx) =>
    massifBytes(tx, log, massif, seal.leaves),
  );
  if (!view) throw new LogInconsistent(`massif ${massif} has no leaves`);
  // Data before seal: readers treat a seal file that is ahead of its massif as an error.
  await context.objectStore.put(massifObjectKey(log, massif), view.bytes);
  await context.objectStore.put(sealFileObjectKey(log, massif), sealObjectBytes(log.structure, seal));
}
