import { retryLater } from '../../platform/errors.js';
import type { Settled, Submission } from './submission.js';

/** Most submissions of one transaction; a larger group still gets a transaction of its own. */
export const MAX_BATCH = 200;
/** Alone, a tenancy may have half as many waiting: five bulk requests. */
const MAX_WAITING = 10_000;

/** The submissions of one request, at least one. They count for the tenancy of the first. */
interface WaitingGroup {
  readonly group: readonly Submission[];
  settle(outcomes: Settled[]): void;
}

/** Groups of submissions that wait to be written. The groups of one tenancy stay in their order. */
export interface WaitingGroups {
  /** The number of submissions that wait. */
  readonly size: number;
  /**
   * One tenancy may fill half of the room, two a third of it each, and so on: there is always room for another one.
   * @throws {ApiError} unavailable, with the time to wait, when the tenancy has as many waiting as there is room left
   */
  add(waiting: WaitingGroup): void;
  /**
   * Takes groups from the tenancies in turn, up to `MAX_BATCH` submissions; none if none waits. A larger group is taken
   * by itself, and after it the smaller ones of all tenancies come first.
   */
  nextBatch(): WaitingGroup[];
}

interface Tenancy {
  readonly groups: WaitingGroup[];
  size: number;
}

export function createWaitingGroups(): WaitingGroups {
  /** Those with groups, in the order of their turns. */
  const tenancies = new Map<string, Tenancy>();
  let size = 0;
  let lastWasLarge = false;

  function take(mayBeLarge: boolean): WaitingGroup[] {
    const batch: WaitingGroup[] = [];
    let room = MAX_BATCH;
    // A tenancy that is set again comes last in this loop.
    for (const [tenantId, tenancy] of tenancies) {
      const { length } = tenancy.groups[0]!.group;
      if (length > room && !(mayBeLarge && batch.length === 0)) continue;
      batch.push(tenancy.groups.shift()!);
      tenancy.size -= length;
      room -= length;
      tenancies.delete(tenantId);
      if (tenancy.groups.length > 0) tenancies.set(tenantId, tenancy);
      if (room <= 0) break;
    }
    size -= MAX_BATCH - room;
    lastWasLarge = room < 0;
    return batch;
  }

  return {
    get size() {
      return size;
    },
    add(waiting) {
      const { length } = waiting.group;
      const { tenantId } = waiting.group[0]!.principal;
      const tenancy = tenancies.get(tenantId) ?? { groups: [], size: 0 };
      if (tenancy.size >= MAX_WAITING - size)
        throw retryLater('unavailable', 'Too many writes are waiting; try again shortly.', 1);
      tenancies.set(tenantId, tenancy);
      tenancy.groups.push(waiting);
      tenancy.size += length;
      size += length;
    },
    nextBatch() {
      const small = lastWasLarge ? take(false) : [];
      return small.length > 0 ? small : take(true);
    },
  };
}
