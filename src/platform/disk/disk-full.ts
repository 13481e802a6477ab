import { ApiError, retryHeaders } from '../errors.js';

/** What is stored on a disk that can be full. `data` is everything else in `DATA_DIR`. */
export type DiskUse = 'database' | 'objects' | 'queue' | 'spool' | 'data';

const STORED: Readonly<Record<DiskUse, string>> = {
  database: 'the database',
  objects: 'the object store',
  queue: 'the queue',
  spool: 'the spool of captured operations',
  data: 'the data folder',
};
const RETRY_SECONDS = 10;
const NO_SPACE: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT']);
const SQL_DISK_FULL = '53100';
const SQL_IO_ERROR = '58030';

/** Returns what is refused while this disk is full: operations wait in the queue and the spool, and no request does. */
export function refusedWhileFull(use: DiskUse): string {
  return use === 'queue' || use === 'spool' ? 'captures that need it' : 'writes';
}

/** Nothing can be stored because a disk is full. Answered with 507; what was acknowledged before is kept. */
export class DiskFull extends ApiError {
  readonly use: DiskUse;

  constructor(use: DiskUse) {
    super(
      'disk_full',
      `The disk of ${STORED[use]} is full. Reads go on, and what was acknowledged is kept. Try again when the operator has made room.`,
      retryHeaders(RETRY_SECONDS),
    );
    this.use = use;
  }
}

/** True if a file system had no room, or a quota was reached, or PostgreSQL says so about its own disk. */
export function isNoSpace(error: unknown): boolean {
  if (error instanceof DiskFull) return true;
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (typeof code !== 'string') return false;
  if (NO_SPACE.has(code) || code === SQL_DISK_FULL) return true;
  return code === SQL_IO_ERROR && /no space left|quota/i.test(String(message));
}

/** The refusal for an error that `isNoSpace`. */
export function diskFullOf(error: unknown): DiskFull {
  if (error instanceof DiskFull) return error;
  const { code } = error as { code: string };
  return new DiskFull(NO_SPACE.has(code) ? 'data' : 'database');
}
