import { setTimeout as wait } from 'node:timers/promises';
import { AuditStopped } from '../../ledger/audit/audit-context.js';
import type { Tx } from '../../platform/postgres/database.js';
import { blobObjectKey } from '../blobs/blob.js';
import { blobsAfter, blobsOfAssetEvents, blobsOfAssetFreeEvents } from './blob-audit-store.js';
import { type DeploymentAudit, LONG_STATEMENTS } from './deployment-audit.js';

const PAGE = 100;
const NOTHING = '00000000-0000-0000-0000-000000000000';

/**
 * Checks that each blob that an event attaches exists with the hash that the event names, and that the object store has
 * the file of each blob. The bytes of the files are not read, because they may be many gigabytes.
 */
export async function auditBlobs(audit: DeploymentAudit): Promise<void> {
  const { fault, objectStore } = audit;
  const first = { tenantId: NOTHING, eventId: NOTHING, blobId: NOTHING };
  for (const events of [blobsOfAssetEvents, blobsOfAssetFreeEvents])
    await eachOf(audit, first, events, async ({ tenantId, eventId, lost }) => {
      if (lost) fault(`tenant/${tenantId}`, `event ${eventId} attaches a blob that is missing or has a different hash`);
    });
  await eachOf(audit, first, blobsAfter, async (blob) => {
    if (!(await objectStore.has(blobObjectKey(blob))))
      fault(`tenant/${blob.tenantId}`, `the file of blob ${blob.blobId} is not in the object store`);
  });
}

/** Looks at all rows, page after page. */
async function eachOf<Key, Row extends Key>(
  { database, stopping, gently = false }: Pick<DeploymentAudit, 'database' | 'stopping' | 'gently'>,
  first: Key,
  pageAfter: (tx: Tx, after: Key, limit: number) => Promise<readonly Row[]>,
  look: (row: Row) => Promise<void>,
): Promise<void> {
  for (let after = first; ; ) {
    if (stopping?.()) throw new AuditStopped('stopped at the blobs');
    const begun = performance.now();
    const page = await database.inTransaction(LONG_STATEMENTS, (tx) => pageAfter(tx, after, PAGE));
    for (const row of page) await look(row);
    if (page.length < PAGE) return;
    if (gently) await wait(performance.now() - begun);
    after = page.at(-1)!;
  }
}
