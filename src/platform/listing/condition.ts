/** A part of a WHERE clause. `sql` names its values `?` in order; they become bound parameters. */
export interface Condition {
  readonly sql: string;
  readonly values: readonly unknown[];
}

/** A condition whose `?` stand for the given values. */
export function condition(sql: string, ...values: unknown[]): Condition {
  return { sql, values };
}

/** All conditions joined by AND with numbered parameters, starting after `offset` earlier ones. */
export function renderWhere(conditions: readonly Condition[], offset = 0): { sql: string; values: unknown[] } {
  const values: unknown[] = [];
  const parts = conditions.map((part) => {
    let used = 0;
    const sql = part.sql.replaceAll('?', () => {
      values.push(part.values[used++]);
      return `$${offset + values.length}`;
    });
    return `(${sql})`;
  });
  return { sql: parts.length === 0 ? 'true' : parts.join(' AND '), values };
}
