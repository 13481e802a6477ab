/** A part of a WHERE clause. `sql` names its values `?` in order; they become bound parameters. */
export interface Condition {
  readonly sql: string;
  readonly values: readonly unknown[];
  /** The same condition in a form that a search can start from (`term-search-store.ts`). */
  readonly means?: ConditionMeaning;
}

export type ConditionMeaning =
  | Term
  /** At least one of these holds. */
  | { readonly kind: 'any'; readonly of: readonly (Term | TermOfParent)[] }
  | TermOfParent
  | { readonly kind: 'tenancy'; readonly tenantId: string }
  /** After this id in the order of the list. */
  | { readonly kind: 'beyond'; readonly id: string }
  /** It limits a scan in the order of the list: a range of ids, or what an index has in that order. */
  | { readonly kind: 'range' }
  /** It keeps only the rows of one parent, which an index has in the order of the list. */
  | { readonly kind: 'parent' }
  /** All rows of the list meet it, and so do all that have a term. */
  | { readonly kind: 'listed' }
  /** An index finds the few rows that can meet it. */
  | { readonly kind: 'few' }
  /** An index finds the rows that can meet it, though they may be many. */
  | { readonly kind: 'indexed' };

/**
 * A text in one place equals this one. `hot`: it has an index of its own, in the order of the list. `common`: so many rows
 * have it that the index of terms is read for it only together with others. `whole`: this is the full condition;
 * otherwise the condition is stricter.
 */
export interface Term {
  readonly kind: 'term';
  readonly place: string;
  readonly name: string;
  readonly text: string;
  readonly hot: boolean;
  readonly common?: true;
  readonly whole: boolean;
}

/** What the row belongs to has a term; the condition may be stricter. */
interface TermOfParent {
  readonly kind: 'parent_term';
  readonly term: Term;
}

/** A value, and the cast by which it has one type wherever it occurs. */
const PLACEHOLDER = /\?(::[a-z]+(?:\[\])?)?/g;

/** A condition whose `?` stand for the given values. */
export function condition(sql: string, ...values: unknown[]): Condition {
  return { sql, values };
}

/** A condition that was written with `boundValues(() => '?')`. */
export function written(sql: string, { values }: { readonly values: readonly unknown[] }): Condition {
  return { sql, values };
}

/** The same condition, with its meaning. */
export function meaning(means: ConditionMeaning, { sql, values }: Condition): Condition {
  return { sql, values, means };
}

/** Holds for no row. */
export const NO_ROW: Condition = meaning({ kind: 'few' }, condition('false'));

/**
 * All conditions joined by AND with numbered parameters, starting after `offset` earlier ones. A value that occurs again
 * with the same cast is bound once: the conditions of a list repeat what policies name.
 */
export function renderWhere(conditions: readonly Condition[], offset = 0): { sql: string; values: unknown[] } {
  const values: unknown[] = [];
  const places = new Map<string, Map<unknown, number>>();
  const placeOf = (value: unknown, cast: string): number => {
    const known = places.get(cast) ?? new Map<unknown, number>();
    const place = known.get(value) ?? offset + values.push(value);
    if (cast !== '') places.set(cast, known.set(value, place));
    return place;
  };
  const parts = conditions.map((part) => {
    let used = 0;
    const sql = part.sql.replaceAll(
      PLACEHOLDER,
      (_found, cast = '') => `$${placeOf(part.values[used++], cast)}${cast}`,
    );
    return `(${sql})`;
  });
  return { sql: parts.length === 0 ? 'true' : parts.join(' AND '), values };
}
