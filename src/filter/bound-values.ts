/** How the n-th bound value (from 1) is written in the SQL. */
export type Placeholder = (position: number) => string;

/** A condition with its values in the order of their placeholders; every value has one placeholder. */
export interface BoundSql {
  readonly where: string;
  readonly values: unknown[];
}

export interface BoundValues {
  readonly values: unknown[];
  /** Binds a text and returns its SQL. */
  bindText(value: string): string;
}

/** Collects values while SQL is written; placeholders are `$1`, `$2` … by default. */
export function boundValues(placeholder: Placeholder = (position) => `$${position}`): BoundValues {
  const values: unknown[] = [];
  return { values, bindText: (value) => `${placeholder(values.push(value))}::text` };
}
