import type { Tx } from '../platform/postgres/database.js';

const DIVISION_BY_ZERO = '22012';

/**
 * Runs an INSERT or UPDATE without RETURNING that must affect exactly so many rows. If it does not, the statement itself
 * fails, so the database commits nothing of the transaction, even if the commit was sent with it.
 * @throws the refusal if the number is another one
 */
export async function affectExactly(
  tx: Tx,
  rows: number,
  refusal: () => Error,
  text: string,
  values: readonly unknown[],
): Promise<void> {
  const checked = `WITH affected AS (${text} RETURNING 1) SELECT 1 / (count(*) = $${values.length + 1}::int)::int FROM affected`;
  try {
    await tx.execute(checked, [...values, rows]);
  } catch (error) {
    throw (error as { code?: unknown }).code === DIVISION_BY_ZERO ? refusal() : error;
  }
}
