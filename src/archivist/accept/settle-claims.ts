import { equalBytes } from '../../core/bytes.js';
import { insertRegistrations, type RegisteredEntry, takeRegistrations } from '../../ledger/registration-store.js';
import type { SqlStatement, Tx } from '../../platform/postgres/database.js';
import { keyReused } from '../idempotency/idempotency.js';
import { insertClaims, takeClaims } from '../idempotency/idempotency-store.js';
import type { Draft } from './draft.js';
import type { Accepted, Outcome } from './submission.js';

/**
 * Claims the idempotency keys and fills in the outcomes of repeated requests; returns the drafts that still have to be
 * written.
 */
export async function settleClaims(tx: Tx, drafts: readonly Draft[], outcomes: Outcome[], now: Date): Promise<Draft[]> {
  const claiming = drafts.filter((draft) => draft.submission.idempotency);
  const earlier = await takeClaims(tx, claiming.flatMap(claimOf), now);
  const held = new Map(claiming.map((draft, position) => [draft, earlier[position]]));
  const registered = await settleRegistrations(tx, drafts);
  const fresh: Draft[] = [];
  for (const draft of drafts) {
    const before = held.get(draft);
    const entry = registered.get(draft);
    if (!before && !entry) fresh.push(draft);
    const result: Accepted = before
      ? { kind: 'earlier', id: before.resource }
      : entry
        ? { kind: 'registration', entry }
        : draft.plan.accepted;
    answer(draft, result, before?.bodyHash ?? draft.submission.idempotency?.bodyHash, outcomes);
  }
  return fresh;
}

/** Claims the statements to register. A statement that is already registered is answered with its first entry. */
async function settleRegistrations(tx: Tx, drafts: readonly Draft[]): Promise<Map<Draft, RegisteredEntry>> {
  const registering = drafts.flatMap((draft) =>
    draft.plan.registration ? [{ draft, ...draft.plan.registration }] : [],
  );
  const earlier = await takeRegistrations(
    tx,
    registering.map(({ row }) => row),
  );
  return new Map(registering.flatMap(({ draft }, place) => (earlier[place] ? [[draft, earlier[place]] as const] : [])));
}

/** A key or a statement that was taken to be new was claimed before. */
export class ClaimedBefore extends Error {
  override readonly name = 'ClaimedBefore';
}

/** The statements that claim the keys and statements of these drafts, all of which are taken to be new. */
export function* claimAsNew(drafts: readonly Draft[], now: Date): Generator<SqlStatement> {
  const existing = () => new ClaimedBefore('a key or a statement was claimed before');
  yield* insertClaims(drafts.flatMap(claimOf), now, existing);
  yield* insertRegistrations(
    drafts.flatMap(({ plan }) => plan.registration?.row ?? []),
    existing,
  );
}

/** Fills in the outcomes of drafts that are taken to be new. */
export function acceptAsNew(drafts: readonly Draft[], outcomes: Outcome[]): void {
  for (const draft of drafts) answer(draft, draft.plan.accepted, draft.submission.idempotency?.bodyHash, outcomes);
}

const claimOf = ({ plan, submission: { idempotency } }: Draft) =>
  idempotency ? [{ resource: plan.id, ...idempotency }] : [];

/** Answers a draft and its followers. @param bodyHash of the request that the result is for, if a repeat must be the same */
function answer(draft: Draft, accepted: Accepted, bodyHash: Uint8Array | undefined, outcomes: Outcome[]): void {
  for (const { index, submission } of [draft, ...draft.followers]) {
    const sameBody = !bodyHash || equalBytes(bodyHash, submission.idempotency!.bodyHash);
    outcomes[index] = sameBody ? { accepted } : { refused: keyReused() };
  }
}
