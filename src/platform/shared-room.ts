import type { ApiError } from './errors.js';
import { countShares, type Holder, type Shares } from './room-shares.js';

/** How much may be held, and how long a caller waits for it. */
interface RoomLimits extends Shares {
  /** How many of one tenancy may wait; no limit unless told. */
  readonly waiting?: number;
  readonly waitMs: number;
  /** What a caller gets who has waited for so long, or who finds the line full. */
  readonly refusal: () => ApiError;
}

/** A part of a room. */
export interface Hold {
  /** It counts as so much from now on. */
  resize(size: number): void;
  release(): void;
}

/** Room for what a process does at the same time. */
export interface SharedRoom {
  /**
   * Waits in turn until there is room.
   * @param size what it counts as from the beginning, however little room there is for it; the least unless told
   * @throws {ApiError} the refusal of the limits: after their time, when the line is full, or when the client has disconnected
   */
  hold(holder: Holder, gone?: AbortSignal, size?: number): Promise<Hold>;
}

interface Waiting {
  readonly holder: Holder;
  readonly size: number;
  admit(): void;
}

/**
 * Shares a limited resource between callers and tenancies, so that none of them can use all of it. A request that finds
 * no room waits in turn.
 */
export function createSharedRoom(limits: RoomLimits): SharedRoom {
  const held = countShares(limits);
  const waiting = new Set<Waiting>();

  function admitWaiting(): void {
    for (const next of waiting) {
      if (!held.fits(next.holder)) continue;
      held.count(next.holder, next.size);
      next.admit();
    }
  }

  function holdOf(holder: Holder, first: number): Hold {
    let own = first;
    const resize = (size: number): void => {
      held.count(holder, size - own);
      own = size;
      admitWaiting();
    };
    return { resize, release: () => resize(0) };
  }

  function isFull(tenancy: string | undefined): boolean {
    if (limits.waiting === undefined) return false;
    const own = [...waiting].filter(({ holder }) => holder.tenancy === tenancy);
    return own.length >= limits.waiting;
  }

  /** Resolves when the hold has been counted. */
  function turn(holder: Holder, size: number, gone: AbortSignal | undefined): Promise<void> {
    if (isFull(holder.tenancy)) throw limits.refusal();
    return new Promise((resolve, reject) => {
      const own: Waiting = { holder, size, admit: () => leave(resolve) };
      const refuse = (): void => leave(() => reject(limits.refusal()));
      const timer = setTimeout(refuse, limits.waitMs);
      gone?.addEventListener('abort', refuse);
      waiting.add(own);
      if (gone?.aborted) refuse();

      function leave(then: () => void): void {
        clearTimeout(timer);
        gone?.removeEventListener('abort', refuse);
        waiting.delete(own);
        then();
      }
    });
  }

  return {
    async hold(holder, gone, size = limits.least) {
      // This overtakes nobody who waits: they do not fit.
      if (held.fits(holder)) held.count(holder, size);
      else await turn(holder, size, gone);
      return holdOf(holder, size);
    },
  };
}
