/** Holders without a tenancy count as one tenancy together. */
const NO_TENANCY = '';

/** How much may be held together, for one tenancy and for one caller. */
export interface Shares {
  readonly total: number;
  readonly tenancy: number;
  readonly caller: number;
  /** There must be room for so much before a hold begins; it counts as this unless another size is given. */
  readonly least: number;
}

/** Who asks: an identity of a tenancy, or an address. */
export interface Holder {
  readonly caller: string;
  readonly tenancy?: string | undefined;
}

/** What is held of a room, in total and by each holder. */
interface HeldShares {
  /** Whether one more hold has room. */
  fits(holder: Holder): boolean;
  /** The holder has so much more, or less if negative. */
  count(holder: Holder, size: number): void;
}

/**
 * Begins with a room that nobody holds. The first hold of a tenancy may go beyond the room, up to its double, so that slow
 * holders of a few tenancies do not keep all others out.
 */
export function countShares(limits: Shares): HeldShares {
  const callers = new Map<string, number>();
  const tenancies = new Map<string, number>();
  let total = 0;

  return {
    fits({ caller, tenancy = NO_TENANCY }) {
      const fitsIn = (held: number | undefined, limit: number) => (held ?? 0) + limits.least <= limit;
      return (
        fitsIn(total, tenancies.has(tenancy) ? limits.total : 2 * limits.total) &&
        fitsIn(callers.get(caller), limits.caller) &&
        fitsIn(tenancies.get(tenancy), limits.tenancy)
      );
    },
    count({ caller, tenancy = NO_TENANCY }, size) {
      total += size;
      add(callers, caller, size);
      add(tenancies, tenancy, size);
    },
  };
}

function add(held: Map<string, number>, holder: string, size: number): void {
  const sum = (held.get(holder) ?? 0) + size;
  if (sum === 0) held.delete(holder);
  else held.set(holder, sum);
}
