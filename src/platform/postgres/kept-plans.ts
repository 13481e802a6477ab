/**
 * Settings of transactions whose statements find rows by their keys: a plan is made once for each connection and used for
 * all values, because making it takes longer than such a statement. A plan that was made while a table was small must
 * not read all of it later.
 */
export const KEPT_PLANS = { plan_cache_mode: 'force_generic_plan', enable_seqscan: 'off' } as const;
