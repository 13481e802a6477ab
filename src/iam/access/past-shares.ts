import { z } from 'zod';
import type { Tx } from '../../platform/postgres/database.js';
import type { EndedGrant } from './past-grant.js';

export interface PastSharesDeps {
  /** Keeps what these grants showed until now readable to the tenancies that lose them. */
  keepShares(tx: Tx, ended: readonly EndedGrant[]): Promise<void>;
}

/** What happens to what a share showed before it ended. */
export type PastShares = 'keep' | 'withdraw';

/** Query of the requests that can end a share. */
export const endingQuery = z.object({
  withdraw: z
    .enum(['true', 'false'])
    .optional()
    .meta({ description: 'true: other organisations also lose what the share showed them before' }),
});

export function pastSharesOf({ withdraw }: z.output<typeof endingQuery>): PastShares {
  return withdraw === 'true' ? 'withdraw' : 'keep';
}

/** Keeps what these grants showed, in the transaction that ends them, unless it is withdrawn. */
export async function keepUnlessWithdrawn(
  tx: Tx,
  deps: PastSharesDeps,
  ended: readonly EndedGrant[],
  past: PastShares,
): Promise<void> {
  if (past === 'keep') await deps.keepShares(tx, ended);
}

/** What the security audit says of a withdrawal. */
export function withdrawal(past: PastShares): { withdraw?: string } {
  return past === 'withdraw' ? { withdraw: 'true' } : {};
}
