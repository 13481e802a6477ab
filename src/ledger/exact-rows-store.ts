import type { SqlStatement } from '../platform/postgres/database.js';

const DIVISION_BY_ZERO = '22012';

/**
 * An INSERT, UPDATE or DELETE without RETURNING that must affect exactly so many rows. If it does not, the statement itself
 * fails, so the database commits nothing of the transaction, even if the commit was sent with it.
 * @param refusal what is thrown if the number is another one
 */
export function affectsExactly(
  rows: number,
  refusal: () => Error,
  text: string,
  values: readonly unknown[],
): SqlStatement {
  return {
    text: `WITH affected AS (${text} RETURNING 1) SELECT 1 / (count(*) = $${values.length + 1}::int)::int FROM affected`,
    values: [...values, rows],
    refusal: (error) => ((error as { code?: unknown }).code === DIVISION_BY_ZERO ? refusal() : error),
  };
}
