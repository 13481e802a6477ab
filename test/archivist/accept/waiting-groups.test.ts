import { describe, expect, it } from 'vitest';
import type { Submission } from '../../../src/archivist/accept/submission.js';
import { createWaitingGroups, MAX_BATCH, type WaitingGroups } from '../../../src/archivist/accept/waiting-groups.js';

const LARGE = MAX_BATCH + 1;

/** Adds a group of so many submissions of a tenancy. */
function add(waiting: WaitingGroups, tenantId: string, name: string, length = 1): void {
  const principal = { tenantId, issuer: 'i', subject: 's', displayName: 'n', email: '', roles: [], claims: {} };
  const each: Submission = { kind: 'asset_free_event', principal, attributes: {}, trails: [], eventType: name };
  waiting.add({ group: Array.from({ length }, () => each), settle: () => {} });
}

/** The names of the groups of each batch, until none waits. */
function batches(waiting: WaitingGroups): string[] {
  const all: string[] = [];
  while (waiting.size > 0) {
    const batch = waiting.nextBatch();
    all.push(batch.map(({ group }) => (group[0] as { eventType: string }).eventType).join(' '));
  }
  expect(waiting.nextBatch()).toEqual([]);
  return all;
}

describe('groups of submissions that wait', () => {
  it('are taken from the tenancies in turn, those of one tenancy in their order', () => {
    const waiting = createWaitingGroups();
    for (const name of ['a1', 'a2', 'a3']) add(waiting, 'a', name);
    add(waiting, 'b', 'b1');
    for (const name of ['c1', 'c2']) add(waiting, 'c', name);
    expect(batches(waiting)).toEqual(['a1 b1 c1 a2 c2 a3']);
  });

  it('fill a batch, and one that does not fit is the first of the next batch', () => {
    const waiting = createWaitingGroups();
    add(waiting, 'a', 'a1', MAX_BATCH - 1);
    add(waiting, 'b', 'b1', 2);
    add(waiting, 'b', 'b2');
    add(waiting, 'c', 'c1');
    add(waiting, 'c', 'c2');
    expect(batches(waiting)).toEqual(['a1 c1', 'b1 c2 b2']);
  });

  it('wait for one large group of other tenancies at most, and these for one batch', () => {
    const waiting = createWaitingGroups();
    for (const tenancy of ['a', 'b']) for (const place of [1, 2]) add(waiting, tenancy, `${tenancy}${place}`, LARGE);
    for (let place = 1; place <= MAX_BATCH + 2; place += 1) add(waiting, 'c', `c${place}`);
    const all = batches(waiting);
    expect(all.map((batch) => batch.split(' ')[0])).toEqual(['a1', 'c1', 'b1', `c${MAX_BATCH + 1}`, 'a2', 'b2']);
    expect(all.map((batch) => batch.split(' ').length)).toEqual([1, MAX_BATCH, 1, 2, 1, 1]);
  });

  it('do not pass a large group of their own tenancy', () => {
    const waiting = createWaitingGroups();
    add(waiting, 'a', 'a1', LARGE);
    add(waiting, 'a', 'a2', LARGE);
    add(waiting, 'a', 'a3');
    add(waiting, 'b', 'b1');
    expect(batches(waiting)).toEqual(['a1', 'b1', 'a2', 'a3']);
  });

  it('are refused while their tenancy has as many waiting as there is room left, and accepted of another', () => {
    const waiting = createWaitingGroups();
    const refusal = { code: 'unavailable', headers: { 'retry-after': '1' } };
    const fill = (tenancy: string): number => {
      for (let count = 0; ; count += 1) {
        try {
          add(waiting, tenancy, 'x', 100);
        } catch (error) {
          expect(error).toMatchObject(refusal);
          return count;
        }
      }
    };
    const filled = ['a', 'b', 'c'].map(fill);
    expect(filled).toEqual([50, 25, 13]);
    add(waiting, 'd', 'd1');
    batches(waiting);
    add(waiting, 'a', 'a1');
    expect(waiting.size).toBe(1);
  });
});
