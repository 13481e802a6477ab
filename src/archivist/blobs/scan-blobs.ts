import type { Scanner, Verdict } from '../../platform/clamav.js';
import type { Clock } from '../../platform/clock.js';
import type { Logger } from '../../platform/logger.js';
import type { ObjectStore } from '../../platform/object-store.js';
import type { Database } from '../../platform/postgres/database.js';
import { type Blob, blobIdentity, blobObjectKey } from './blob.js';
import { listNotScanned, setScanned } from './blob-store.js';

export interface ScanDeps {
  readonly database: Database;
  readonly objectStore: ObjectStore;
  readonly scanner: Scanner;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The number of blobs of a run by scan result. */
type ScanCounts = Record<Verdict['status'], number>;

const PAGE = 100;

/**
 * Scans every unscanned blob, one after the other. A blob that the scanner cannot read in full stays NOT_SCANNED and is
 * retried in the next run. Each result is stored at once, so a crash repeats one scan at most.
 * @param stopping called before each blob; true ends the run early
 * @throws when the scanner cannot be reached
 */
export async function scanBlobs(deps: ScanDeps, stopping: () => boolean = () => false): Promise<ScanCounts> {
  const counts: ScanCounts = { clean: 0, bad: 0, unknown: 0 };
  let last: Blob | undefined;
  for (;;) {
    const after = last;
    const page = await deps.database.inTransaction('system', (tx) => listNotScanned(tx, after, PAGE));
    for (const blob of page) {
      if (stopping()) return counts;
      counts[await scanBlob(deps, blob)] += 1;
    }
    last = page.at(-1);
    if (!last) return counts;
  }
}

async function scanBlob(deps: ScanDeps, blob: Blob): Promise<Verdict['status']> {
  const { database, objectStore, scanner, clock, logger } = deps;
  const content = await objectStore.open(blobObjectKey(blob));
  if (!content) {
    logger.error(
      { blob: blobIdentity(blob) },
      'the bytes of a blob are missing in the object store: restore them from a backup',
    );
    return 'unknown';
  }
  const verdict = await scanner.scan(content);
  if (verdict.status === 'unknown') {
    logger.warn(
      { blob: blobIdentity(blob), reason: verdict.reason },
      'a blob could not be scanned; it stays NOT_SCANNED and is retried',
    );
    return verdict.status;
  }
  const found =
    verdict.status === 'bad'
      ? ({ status: 'SCANNED_BAD', badReason: verdict.signature } as const)
      : ({ status: 'SCANNED_OK', badReason: '' } as const);
  await database.inTransaction('system', (tx) => setScanned(tx, blob, { ...found, at: new Date(clock.now()) }));
  return verdict.status;
}
