import type { Logger } from '../platform/logger.js';
import type { Announcements } from '../platform/postgres/announcements.js';
import type { Database } from '../platform/postgres/database.js';
import type { LogRef } from './log.js';
import { publishedLeaves } from './published-leaves-store.js';
import { SEAL_PUBLISHED } from './receipt-watch.js';

/** An announcement can be lost: without one, the followed logs are looked at after this time. */
const LOOK_AFTER_MS = 2_000;

/** How far logs are published, for everybody in this process that follows one. */
export interface LogGrowth {
  follow(log: LogRef): FollowedGrowth;
  /** True since `close`: those that follow a log have to stop. */
  readonly isClosed: boolean;
  /** Wakes everybody that waits. */
  close(): void;
}

/** One follower of a log. */
export interface FollowedGrowth {
  /**
   * Resolves with the number of published leaves when it is more than `known`; with what is known of it when the time
   * ends or the process closes.
   */
  beyond(known: bigint, withinMs: number): Promise<bigint>;
  /** Wakes the follower if it waits. */
  end(): void;
}

interface Followed {
  readonly log: LogRef;
  followers: number;
  /** As last read; undefined before the first look. */
  leaves: bigint | undefined;
  /** A seal may have been published since the last look. */
  stale: boolean;
  readonly waiting: Set<() => void>;
}

interface LogGrowthDeps {
  readonly database: Database;
  readonly announcements: Announcements;
  readonly logger: Logger;
  /** Two seconds unless told. */
  readonly lookAfterMs?: number;
}

/** Follows logs, sealed by any process: one query for all that may have grown, however many follow them. */
export function followGrowth(deps: LogGrowthDeps): LogGrowth {
  const followed = new Map<string, Followed>();
  let isLooking = false;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;

  const stop = deps.announcements.hear(SEAL_PUBLISHED, (logId) => lookAgain(logId));

  /** @param logId undefined: any log may have grown */
  function lookAgain(logId?: string): void {
    for (const each of followed.values()) if (logId === undefined || logId === each.log.logId) each.stale = true;
    void look();
  }

  async function look(): Promise<void> {
    if (isLooking) return;
    isLooking = true;
    try {
      for (let stale = staleLogs(); stale.length > 0; stale = staleLogs()) await readLeaves(deps.database, stale);
    } catch (error) {
      deps.logger.warn({ err: error }, 'the growth of followed logs could not be read; this is retried');
    } finally {
      isLooking = false;
    }
  }

  const staleLogs = () => (isClosed ? [] : [...followed.values()].filter(({ stale }) => stale));

  function leave(each: Followed): void {
    each.followers -= 1;
    if (each.followers === 0) followed.delete(each.log.logId);
    if (followed.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    follow(log) {
      const fresh: Followed = { log, followers: 0, leaves: undefined, stale: true, waiting: new Set() };
      const each = followed.get(log.logId) ?? fresh;
      followed.set(log.logId, each);
      timer ??= setInterval(lookAgain, deps.lookAfterMs ?? LOOK_AFTER_MS).unref();
      each.followers += 1;
      void look();
      return follower(each, { isClosed: () => isClosed, left: () => leave(each) });
    },
    get isClosed() {
      return isClosed;
    },
    close() {
      isClosed = true;
      stop();
      clearInterval(timer);
      for (const each of followed.values()) wakeAll(each);
    },
  };
}

async function readLeaves(database: Database, stale: readonly Followed[]): Promise<void> {
  for (const each of stale) each.stale = false;
  const logs = stale.map(({ log }) => log);
  const read = [...new Set(logs.map(({ tenantId }) => tenantId))];
  const found = await database.inTransaction({ read, write: [] }, (tx) => publishedLeaves(tx, logs));
  for (const each of stale) {
    each.leaves = found.get(each.log.logId) ?? 0n;
    wakeAll(each);
  }
}

function wakeAll({ waiting }: Followed): void {
  for (const wake of [...waiting]) wake();
}

/** @param growth `left` is called once, when the follower ends */
function follower(
  each: Followed,
  growth: { readonly isClosed: () => boolean; readonly left: () => void },
): FollowedGrowth {
  let hasEnded = false;
  return {
    beyond: (known, withinMs) => grownBeyond(each, known, withinMs, () => hasEnded || growth.isClosed()),
    end() {
      if (hasEnded) return;
      hasEnded = true;
      wakeAll(each);
      growth.left();
    },
  };
}

function grownBeyond(each: Followed, known: bigint, withinMs: number, isOver: () => boolean): Promise<bigint> {
  return new Promise((resolve) => {
    const leaves = () => each.leaves ?? 0n;
    const settle = (): void => {
      clearTimeout(late);
      each.waiting.delete(wake);
      resolve(leaves());
    };
    const wake = (): void => {
      if (leaves() > known || isOver()) settle();
    };
    const late = setTimeout(settle, withinMs);
    each.waiting.add(wake);
    wake();
  });
}
