import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Logger } from '../logger.js';
import { DiskFull, type DiskUse } from './disk-full.js';

/** What is known of one disk. */
export interface DiskState {
  readonly use: DiskUse;
  readonly full: boolean;
  /** Undefined for the disk of a server. */
  readonly freeBytes: number | undefined;
}

/**
 * Knows which disks are full. The embedded database cannot survive a full disk while it writes its log, so a folder
 * counts as full before it is: when less than the reserve is free.
 */
export interface DiskWatch {
  /** Begins to look at the disks, once a second. Until then only reported disks are full: a start may use the reserve. */
  start(): Promise<void>;
  /** Looks at the disks now. Never rejects. */
  look(): Promise<void>;
  isFull(use: DiskUse): boolean;
  /** @throws {DiskFull} for the first of these disks that is full */
  requireRoom(...uses: readonly DiskUse[]): void;
  /** Reports that a write has failed for lack of room: the disk counts as full for some seconds. */
  report(use: DiskUse): void;
  /** In the order in which they were named. */
  states(): readonly DiskState[];
  close(): Promise<void>;
}

interface DiskWatchParts {
  /** The folder of each disk of this machine. It need not exist yet. */
  readonly folders: Readonly<Partial<Record<DiskUse, string>>>;
  /** Asks servers whether they refuse writes for lack of room. A rejection counts as no. */
  readonly servers?: Readonly<Partial<Record<DiskUse, () => Promise<boolean>>>>;
  /** Least number of free bytes. An embedded database has a small reserve also if this is 0. */
  readonly reserveBytes: number;
  /** Milliseconds of a clock that never jumps. */
  readonly now: () => number;
  readonly logger: Logger;
  /** Called after each look and each report. */
  readonly looked?: (states: readonly DiskState[]) => void;
  /** Called with each report. */
  readonly reported?: ((use: DiskUse) => void) | undefined;
}

const LOOK_MS = 1_000;
/** A write after this time finds out whether there is room again. */
const REPORTED_MS = 5_000;
/** Only a write finds out whether a reported disk has room. The log calls it full until none has failed for so long. */
const UNREPORTED_MS = 10_000;
/** A full disk is repeated in the log as often as this. */
const LOG_MS = 60_000;
/** Two segments of PostgreSQL's write-ahead log, without which the embedded engine ends instead of refusing a write. */
const LEAST_FOR_DATABASE = 32 * 1024 * 1024;
/** An object store makes a file for each object: a file system without free inodes is as full as one without bytes. */
const LEAST_INODES = 256;

/** Free bytes for a process without privileges; 0 if the file system cannot hold more files. */
async function freeBytesOf(folder: string): Promise<number> {
  try {
    const { bavail, bsize, files, ffree } = await statfs(folder);
    return files > 0 && ffree < LEAST_INODES ? 0 : bavail * bsize;
  } catch (error) {
    const parent = dirname(folder);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === folder) throw error;
    return freeBytesOf(parent);
  }
}

export function createDiskWatch(parts: DiskWatchParts): DiskWatch {
  const { folders, servers = {}, reserveBytes, now, logger } = parts;
  const uses = [...new Set([...Object.keys(folders), ...Object.keys(servers)])] as DiskUse[];
  const free = new Map<DiskUse, number>();
  const refusing = new Set<DiskUse>();
  const reportedUntil = new Map<DiskUse, number>();
  const toldAt = new Map<DiskUse, number>();
  let looking: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  const isFull = (use: DiskUse): boolean =>
    refusing.has(use) || (reportedUntil.get(use) ?? Number.NEGATIVE_INFINITY) > now();
  const states = (): DiskState[] =>
    [...new Set([...uses, ...reportedUntil.keys()])].map((use) => ({
      use,
      full: isFull(use),
      freeBytes: free.get(use),
    }));

  async function lookAtFolder(use: DiskUse, folder: string): Promise<boolean> {
    const bytes = await freeBytesOf(folder);
    free.set(use, bytes);
    return bytes < (use === 'database' ? Math.max(reserveBytes, LEAST_FOR_DATABASE) : reserveBytes);
  }

  /** A look that fails changes nothing: a file system that does not answer is not known to be full. */
  async function lookAt(use: DiskUse): Promise<void> {
    const folder = folders[use];
    const full = await (folder === undefined ? servers[use]!() : lookAtFolder(use, folder)).catch(() =>
      folder === undefined ? false : refusing.has(use),
    );
    if (full) refusing.add(use);
    else refusing.delete(use);
  }

  function tell({ use, full, freeBytes }: DiskState): void {
    const told = toldAt.get(use);
    const unreportedMs = now() - (reportedUntil.get(use) ?? Number.NEGATIVE_INFINITY);
    if (!full && told !== undefined && unreportedMs > UNREPORTED_MS) {
      toldAt.delete(use);
      logger.warn({ disk: use, freeBytes }, 'there is room on the disk again: writes go on');
    }
    if (!full || (told !== undefined && now() - told < LOG_MS)) return;
    toldAt.set(use, now());
    logger.error({ disk: use, freeBytes, reserveBytes }, 'the disk is full: writes are refused until there is room');
  }

  function tellAll(): void {
    const seen = states();
    for (const state of seen) tell(state);
    parts.looked?.(seen);
  }

  async function lookOnce(): Promise<void> {
    await Promise.all(uses.map(lookAt));
    tellAll();
  }

  const look = (): Promise<void> => {
    looking ??= lookOnce().finally(() => {
      looking = undefined;
    });
    return looking;
  };

  return {
    async start() {
      await look();
      timer ??= setInterval(() => void look(), LOOK_MS).unref();
    },
    look,
    isFull,
    requireRoom(...required) {
      const full = required.find(isFull);
      if (full !== undefined) throw new DiskFull(full);
    },
    report(use) {
      reportedUntil.set(use, now() + REPORTED_MS);
      parts.reported?.(use);
      tellAll();
    },
    states,
    async close() {
      clearInterval(timer);
      await looking;
    },
  };
}
