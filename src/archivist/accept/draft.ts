import { toHex } from '../../core/bytes.js';
import { logHalted } from '../../ledger/halted/log-halted.js';
import { ApiError } from '../../platform/errors.js';
import type { Deployment } from '../deployment.js';
import { registersInHaltedLog } from './halted-target.js';
import { type Plan, type PlanContext, plan } from './plan.js';
import type { Outcome, Submission } from './submission.js';

/** The key that two submissions share when they must create one resource. */
export function sameAs(submission: Submission): string | undefined {
  if (submission.kind === 'registration') {
    const owner = submission.public ? 'public' : submission.principal.tenantId;
    return `${owner} ${toHex(submission.statement.hash)}`;
  }
  // One person can be a member of several tenancies.
  const { idempotency } = submission;
  return idempotency && `${idempotency.tenantId} ${toHex(idempotency.scope)}`;
}

/** A submission at its place in the batch. */
export interface Placed {
  readonly index: number;
  readonly submission: Submission;
}

export interface Draft extends Placed {
  readonly plan: Plan;
  readonly followers: Placed[];
}

/** Returns what a submission would write; undefined, with the refusal among the outcomes, if it may not. */
export function draftOf(
  { index, submission }: Placed,
  context: PlanContext,
  deps: { readonly deployment: Deployment; readonly halted: (logId: string) => boolean },
  outcomes: Outcome[],
): Draft | undefined {
  try {
    if (registersInHaltedLog(submission, deps)) throw logHalted();
    const planned = plan(submission, context);
    if (planned.intake.some(({ logId }) => deps.halted(logId))) throw logHalted();
    return { index, submission, plan: planned, followers: [] };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    outcomes[index] = { refused: error };
    return undefined;
  }
}

/** A statement for which one tenancy has no room is the next one's that has brought it. */
export function nextOf({ submission, followers }: Draft, drafted: (each: Placed) => Draft | undefined): Draft[] {
  const others = followers.filter((each) => each.submission.principal.tenantId !== submission.principal.tenantId);
  for (const [place, other] of others.entries()) {
    const draft = drafted(other);
    if (draft) return [{ ...draft, followers: others.slice(place + 1) }];
  }
  return [];
}
