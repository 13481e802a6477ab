import type { ApiError } from './errors.js';

/** Holders without a tenancy count as one tenancy together. */
const NO_TENANCY = '';

/** How much may be held together, for one tenancy and for one caller, and how long a caller waits for it. */
interface RoomLimits {
  readonly total: number;
  readonly tenancy: number;
  readonly caller: number;
  /** What a hold counts as until it is resized. */
  readonly least: number;
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

/** Who asks: an identity of a tenancy, or an address. */
interface Holder {
  readonly caller: string;
  readonly tenancy?: string | undefined;
}

/** Room for what a process does at the same time. */
export interface SharedRoom {
  /**
   * Waits in turn until there is room.
   * @throws {ApiError} the refusal of the limits: after their time, when the line is full, or when the client has disconnected
   */
  hold(holder: Holder, gone?: AbortSignal): Promise<Hold>;
}

interface Waiting {
  readonly holder: Holder;
  admit(): void;
}

/**
 * Shares a limited good between callers and tenancies, so that none of them takes it all. The first hold of a tenancy may
 * go beyond the room, up to its double, so that slow holders of a few tenancies do not keep all others out.
 */
export function createSharedRoom(limits: RoomLimits): SharedRoom {
  const callers = new Map<string, number>();
  const tenancies = new Map<string, number>();
  const waiting = new Set<Waiting>();
  let total = 0;

  function count({ caller, tenancy = NO_TENANCY }: Holder, size: number): void {
    total += size;
    add(callers, caller, size);
    add(tenancies, tenancy, size);
  }

  function fits({ caller, tenancy = NO_TENANCY }: Holder): boolean {
    const fitsIn = (held: number | undefined, limit: number) => (held ?? 0) + limits.least <= limit;
    return (
      fitsIn(total, tenancies.has(tenancy) ? limits.total : 2 * limits.total) &&
      fitsIn(callers.get(caller), limits.caller) &&
      fitsIn(tenancies.get(tenancy), limits.tenancy)
    );
  }

  function admitWaiting(): void {
    for (const next of waiting) {
      if (!fits(next.holder)) continue;
      count(next.holder, limits.least);
      next.admit();
    }
  }

  function holdOf(holder: Holder): Hold {
    let own = limits.least;
    const resize = (size: number): void => {
      count(holder, size - own);
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
  function turn(holder: Holder, gone: AbortSignal | undefined): Promise<void> {
    if (isFull(holder.tenancy)) throw limits.refusal();
    return new Promise((resolve, reject) => {
      const own: Waiting = { holder, admit: () => leave(resolve) };
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
    async hold(holder, gone) {
      // This overtakes nobody who waits: they do not fit.
      if (fits(holder)) count(holder, limits.least);
      else await turn(holder, gone);
      return holdOf(holder);
    },
  };
}

function add(held: Map<string, number>, holder: string, size: number): void {
  const sum = (held.get(holder) ?? 0) + size;
  if (sum === 0) held.delete(holder);
  else held.set(holder, sum);
}
