import type { ClaimKind } from './claim.js';
import type { Verdict } from './verdict.js';

const OF_OPERATION: readonly ClaimKind[] = ['statement', 'event'];

/**
 * Returns the same verdict, with its statement and events named as evidence of one operation. The caller must have
 * compared them with each other without a contradiction.
 * @param place the piece that holds all of them: a file, or a folder with `/` at its end
 */
export function ofOneOperation(verdict: Verdict, place: string): Verdict {
  const claims = verdict.claims.map((claim) =>
    OF_OPERATION.includes(claim.kind) ? { ...claim, operation_in: place } : claim,
  );
  return { ...verdict, claims };
}
