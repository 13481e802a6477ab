import type { Logger } from '../logger.js';
import { DiskFull, type DiskUse } from './disk-full.js';
import { createDiskLooks, type LookedDisks } from './disk-looks.js';
import type { DiskState } from './disk-state.js';
import { createDiskWarnings } from './disk-warnings.js';

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

interface DiskWatchParts extends LookedDisks {
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

/** Does not look before it is started. */
export function createDiskWatch(parts: DiskWatchParts): DiskWatch {
  const { now } = parts;
  const looks = createDiskLooks(parts);
  const warn = createDiskWarnings(parts);
  const reportedUntil = new Map<DiskUse, number>();
  let looking: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  const reportedUntilMs = (use: DiskUse): number => reportedUntil.get(use) ?? Number.NEGATIVE_INFINITY;
  const isFull = (use: DiskUse): boolean => looks.isFull(use) || reportedUntilMs(use) > now();
  const states = (): DiskState[] =>
    [...new Set([...looks.uses, ...reportedUntil.keys()])].map((use) => ({
      use,
      full: isFull(use),
      freeBytes: looks.freeBytes(use),
    }));

  function tellAll(): void {
    const seen = states();
    for (const state of seen) warn(state, reportedUntilMs(state.use));
    parts.looked?.(seen);
  }

  async function lookOnce(): Promise<void> {
    await looks.look();
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
