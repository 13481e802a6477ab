import { pino } from 'pino';
import { createDiskWatch, type DiskWatch } from '../../src/platform/disk/disk-watch.js';

/** A watch without folders: a disk is full only after a write has failed. */
export function unwatchedDisk(): DiskWatch {
  return createDiskWatch({
    folders: {},
    reserveBytes: 0,
    now: () => performance.now(),
    logger: pino({ level: 'silent' }),
  });
}
