import type { LogRef, LogState } from '../../src/ledger/log.js';
import { sealObjectKey } from '../../src/ledger/seal-object.js';
import type { LedgerRig } from './ledger-rig.js';
import type { Opened } from './test-engines.js';

/** Takes the last seal away again, as a crash between commit and seal left a log of an earlier version. */
export async function unseal(
  { asOwner }: Pick<Opened, 'asOwner'>,
  rig: LedgerRig,
  log: LogRef,
  before: LogState,
): Promise<void> {
  await asOwner('DELETE FROM archivist.seal WHERE log_id = $1 AND seal_number > $2', [log.logId, before.sealNumber]);
  await asOwner('DELETE FROM archivist.peak_receipt WHERE log_id = $1 AND node_index >= $2', [log.logId, before.size]);
  await asOwner(
    `UPDATE archivist.log SET seal_number = $2, sealed_size = $3, published_number = $2, published_size = $3
      WHERE log_id = $1`,
    [log.logId, before.sealNumber, before.size],
  );
  await rig.objectStore.remove(sealObjectKey(log, before.sealNumber + 1n));
}
