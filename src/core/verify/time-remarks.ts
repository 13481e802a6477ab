import type { Claim, NamedLog, SealTimes } from './claim.js';
import { logOf } from './log-of.js';

/** Two times of one service that contradict each other, although every signature is valid. */
export interface Remark {
  /**
   * - `accepted_after_committed`: an event that was accepted after its log committed it.
   * - `sealed_before_leaf`: a seal that is older than the newest leaf under it.
   * - `sealed_before_older_seal`: a seal that is older than one over fewer nodes.
   */
  readonly what: 'accepted_after_committed' | 'sealed_before_leaf' | 'sealed_before_older_seal';
  /** The piece of the claim that states the time, or of the log. */
  readonly piece: string;
  /** One sentence for a person. */
  readonly detail: string;
}

/** The clocks of one honest service differ by no more: a sequencer whose clock is further off stops. */
const MOST_SKEW_MS = 5_000;

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
const msOf = (time: string | undefined): number => (RFC_3339.test(time ?? '') ? Date.parse(time!) : Number.NaN);
/** False as well if one of them is no time. */
const isBefore = (time: string | undefined, other: string | undefined): boolean =>
  msOf(time) < msOf(other) - MOST_SKEW_MS;

/** An asset-free event states both times in two claims: of its record, and of its leaf. */
function eventRemarks(claims: readonly Claim[]): Remark[] {
  const byPiece = new Map<string, { accepted?: string; committed?: string }>();
  for (const { kind, piece, facts } of claims) {
    if (kind !== 'event') continue;
    const { accepted, committed } = facts;
    byPiece.set(piece, { ...byPiece.get(piece), ...(accepted && { accepted }), ...(committed && { committed }) });
  }
  return [...byPiece].flatMap(([piece, { accepted, committed }]): Remark[] => {
    if (!isBefore(committed, accepted)) return [];
    const detail = `the service says that it accepted the event at ${accepted}, but its log committed it at ${committed}, before that`;
    return [{ what: 'accepted_after_committed', piece, detail }];
  });
}

/** A proof by a seal, and the piece that has it. */
export interface PlacedSeal {
  readonly piece: string;
  readonly seal: SealTimes & { readonly log: NamedLog };
}

/** Returns how the times of seals contradict those of their leaves, and those of other seals of the same log. */
export function sealRemarks(seals: readonly PlacedSeal[]): Remark[] {
  const newest = new Map<string, SealTimes>();
  return seals
    .toSorted((left, right) => Number(BigInt(left.seal.tree_size) - BigInt(right.seal.tree_size)))
    .flatMap(({ piece, seal }): Remark[] => {
      const { log, tree_size: size, sealed_at: at, newest_leaf_at: leaf } = seal;
      const named = `the seal over ${size} nodes of the log "${log.subject ?? ''}" is dated ${at}, but`;
      const found: Remark[] = [];
      if (isBefore(at, leaf))
        found.push({ what: 'sealed_before_leaf', piece, detail: `${named} it covers a leaf of ${leaf}` });
      const key = logOf(log);
      if (key === undefined) return found;
      const older = newest.get(key);
      if (older && older.tree_size !== size && isBefore(at, older.sealed_at)) {
        const detail = `${named} the one over ${older.tree_size} nodes is of ${older.sealed_at}`;
        found.push({ what: 'sealed_before_older_seal', piece, detail });
      }
      if (!older || msOf(at) > msOf(older.sealed_at)) newest.set(key, seal);
      return found;
    });
}

function sealsOf(claims: readonly Claim[]): PlacedSeal[] {
  return claims.flatMap(({ piece, by }) =>
    by.flatMap((proof) => {
      const { sealed_at, tree_size } = proof as Partial<SealTimes>;
      return 'log' in proof && sealed_at !== undefined && tree_size !== undefined
        ? [{ piece, seal: { ...proof, sealed_at, tree_size } }]
        : [];
    }),
  );
}

/**
 * Returns the contradictions among times: a clock was wrong, or a time was made up. They do not change the outcome,
 * because a wrong clock makes no record false.
 * @param earlier remarks about the same evidence, also about seals that no claim names
 */
export function timeRemarks(claims: readonly Claim[], earlier: readonly Remark[]): readonly Remark[] {
  // Those about events follow from the claims, whose pieces may have been named anew.
  const carried = earlier.filter(({ what }) => what !== 'accepted_after_committed');
  const ofSeals = [...sealRemarks(sealsOf(claims)), ...carried];
  // Several claims have the same seal.
  const distinct = new Map(ofSeals.toReversed().map((each) => [each.what + each.detail, each]));
  return [...eventRemarks(claims), ...[...distinct.values()].toReversed()];
}
