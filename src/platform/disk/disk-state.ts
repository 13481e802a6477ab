import type { DiskUse } from './disk-full.js';

/** What is known of one disk. */
export interface DiskState {
  readonly use: DiskUse;
  readonly full: boolean;
  /** Undefined for the disk of a server. */
  readonly freeBytes: number | undefined;
}
