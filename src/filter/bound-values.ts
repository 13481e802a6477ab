/** How the n-th bound value (from 1) is written in the SQL. */
export type Placeholder = (position: number) => string;

/** A condition with its values in the order of their placeholders; every value has one placeholder. */
export interface BoundSql {
  readonly where: string;
  readonly values: unknown[];
}

/** SQL types of values that are bound as one; JSON is bound as text. */
type BoundType = 'text[]' | 'jsonb' | 'jsonb[]' | 'integer[]' | 'boolean[]' | 'uuid[]';

export interface BoundValues {
  readonly values: unknown[];
  /** Binds a text and returns its SQL. */
  bindText(value: string): string;
  /** Binds a value of this type and returns its SQL. */
  bindAs(value: unknown, type: BoundType): string;
}

/** Collects values while SQL is written; placeholders are `$1`, `$2` … by default. */
export function boundValues(placeholder: Placeholder = (position) => `$${position}`): BoundValues {
  const values: unknown[] = [];
  const bind = (value: unknown, type: string) => `${placeholder(values.push(value))}::${type}`;
  return { values, bindText: (value) => bind(value, 'text'), bindAs: bind };
}
