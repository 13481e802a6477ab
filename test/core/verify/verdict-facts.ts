/** A claim in a verdict, or in the JSON of one. */
export interface ShownClaim {
  readonly kind: string;
  readonly facts: object;
  readonly by: readonly { readonly type: string }[];
}

/** Everything that claims show, fact by fact, with what proves them. An answer with fewer facts has a subset. */
export function shownFacts(claims: readonly ShownClaim[]): ReadonlySet<string> {
  return new Set(
    claims.flatMap(({ kind, facts, by }) => {
      const { members = {}, ...others } = facts as { members?: object };
      // A proof by equal digests names a piece by the place of its file.
      const proofs = by.flatMap(({ type, ...proof }) => (type === 'digest' ? [] : named(`${kind} ${type}`, proof)));
      return [...named(kind, others), ...named(kind, members), ...proofs];
    }),
  );
}

function named(kind: string, values: object): string[] {
  return Object.entries(values).map(([name, value]) => `${kind} ${name} ${canonical(value)}`);
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort())
      : each,
  );
}
