import type { Tx } from './database.js';

/**
 * Settings of transactions whose statements find rows by their keys: a plan is made once for each connection and used for
 * all values, because making it takes longer than such a statement. A plan that was made while a table was small must
 * not read all of it later.
 */
export const KEPT_PLANS = { plan_cache_mode: 'force_generic_plan', enable_seqscan: 'off' } as const;

/** Settings of the rest of a transaction that has read a list: the statements after this one find rows by their keys. */
export async function keepPlans(tx: Tx): Promise<void> {
  await tx.query("SELECT set_config('plan_cache_mode', $1, true), set_config('enable_seqscan', $2, true)", [
    KEPT_PLANS.plan_cache_mode,
    KEPT_PLANS.enable_seqscan,
  ]);
}
