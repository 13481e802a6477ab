import type { Claim, Facts } from '../core/verify/claim.js';

/** The claims about one operation: what a statement says and what a log holds of it. */
export interface Operation {
  /** The file or folder that holds its evidence. */
  readonly place: string;
  readonly claims: readonly Claim[];
  /** Proven members of all of these claims; those of the event before those of the statement. */
  readonly facts: Facts;
}

const OF_OPERATION: readonly Claim['kind'][] = ['statement', 'event'];
/**
 * Returns the operations among the claims, oldest first as far as their times are proven. Claims are of one operation only
 * if the check says so: the names of files are whatever their sender chose.
 */
export function operationsOf(claims: readonly Claim[]): Operation[] {
  const found = new Map<string, Claim[]>();
  for (const claim of claims) {
    if (!OF_OPERATION.includes(claim.kind)) continue;
    const { operation_in: holder, piece } = claim;
    const key = JSON.stringify([holder, holder === undefined && piece]);
    found.set(key, [...(found.get(key) ?? []), claim]);
  }
  const operations = [...found.values()].map((of) => ({ place: holderOf(of[0]!), claims: of, facts: mergedFacts(of) }));
  return operations.sort((left, right) => timeOf(left) - timeOf(right));
}

/** Claims that are about something else: documents, logs, witnesses. */
export function otherClaims(claims: readonly Claim[], kinds: readonly Claim['kind'][]): Claim[] {
  return claims.filter(({ kind }) => kinds.includes(kind));
}

/**
 * Claims that say the same of the same file, which several bundles have: each group is one thing to read. Their order
 * is that of the first of each.
 */
export function sameClaims(claims: readonly Claim[]): Claim[][] {
  const groups = new Map<string, Claim[]>();
  for (const claim of claims) {
    const file = claim.piece.slice(claim.piece.indexOf('/') + 1);
    const key = JSON.stringify([claim.kind, file, claim.facts]);
    groups.set(key, [...(groups.get(key) ?? []), claim]);
  }
  return [...groups.values()];
}

/** A loose file holds its one statement or event as a piece of that name. */
function holderOf({ operation_in: holder, piece }: Claim): string {
  return holder?.replace(/\/$/, '') ?? piece.replace(/\/(?:statement|event)$/, '');
}

function mergedFacts(claims: readonly Claim[]): Facts {
  const ordered = claims.toSorted((left, right) => (left.kind === right.kind ? 0 : left.kind === 'statement' ? -1 : 1));
  return Object.assign({}, ...ordered.map(({ facts }) => facts)) as Facts;
}

function timeOf({ facts: { accepted, committed, declared } }: Operation): number {
  const time = Date.parse(accepted ?? committed ?? declared ?? '');
  return Number.isNaN(time) ? Number.POSITIVE_INFINITY : time;
}
