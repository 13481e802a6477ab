import type { DiskUse } from './disk-full.js';
import { freeBytesOf } from './free-bytes.js';

/** The disks to look at. */
export interface LookedDisks {
  /** The folder of each disk of this machine. It need not exist yet. */
  readonly folders: Readonly<Partial<Record<DiskUse, string>>>;
  /** Asks servers whether they refuse writes for lack of room. A rejection counts as no. */
  readonly servers?: Readonly<Partial<Record<DiskUse, () => Promise<boolean>>>>;
  /** Least number of free bytes. An embedded database has a small reserve also if this is 0. */
  readonly reserveBytes: number;
}

/** What the last look at each disk has found. */
interface DiskLooks {
  /** All disks, in the order in which they were named. */
  readonly uses: readonly DiskUse[];
  /** Looks at all disks. Never rejects. */
  look(): Promise<unknown>;
  isFull(use: DiskUse): boolean;
  /** Undefined for the disk of a server, and before the first look. */
  freeBytes(use: DiskUse): number | undefined;
}

/** Two segments of PostgreSQL's write-ahead log, without which the embedded engine ends instead of refusing a write. */
const LEAST_FOR_DATABASE = 32 * 1024 * 1024;

/** No disk is full before the first look. */
export function createDiskLooks({ folders, servers = {}, reserveBytes }: LookedDisks): DiskLooks {
  const uses = [...new Set([...Object.keys(folders), ...Object.keys(servers)])] as DiskUse[];
  const free = new Map<DiskUse, number>();
  const full = new Set<DiskUse>();

  async function isFolderFull(use: DiskUse, folder: string): Promise<boolean> {
    const bytes = await freeBytesOf(folder);
    free.set(use, bytes);
    return bytes < (use === 'database' ? Math.max(reserveBytes, LEAST_FOR_DATABASE) : reserveBytes);
  }

  /** A look that fails changes nothing: a file system that does not answer is not known to be full. */
  async function lookAt(use: DiskUse): Promise<void> {
    const folder = folders[use];
    const isFull = await (folder === undefined ? servers[use]!() : isFolderFull(use, folder)).catch(() =>
      folder === undefined ? false : full.has(use),
    );
    if (isFull) full.add(use);
    else full.delete(use);
  }

  return {
    uses,
    look: () => Promise.all(uses.map(lookAt)),
    isFull: (use) => full.has(use),
    freeBytes: (use) => free.get(use),
  };
}
