import { appendTo } from '../append-to.js';
import { VerificationError } from '../errors.js';
import { leafCount } from '../mmr/leaf-count.js';
import type { Claim, NamedLog } from './claim.js';
import { logOf } from './log-of.js';
import { placeName } from './proven-nodes.js';
import { type Counts, conflictsAmong } from './shown-log.js';
import {
  type Contradiction,
  contradiction,
  createVerdict,
  type Findings,
  notCovered,
  type Verdict,
} from './verdict.js';

const twoHistories = (why: string) =>
  new VerificationError('consistency_invalid', `${why}: the log has signed two histories`);

async function nodeFindings(claims: readonly Claim[], counts: Counts): Promise<Partial<Findings>[]> {
  return (await conflictsAmong(claims, counts)).map(({ subject, at, piece, other }) => {
    const pieces = other === piece ? 'two proofs of it' : `it and ${other}`;
    const why = `${pieces} show different hashes for ${placeName(at)} of the log "${subject}"`;
    return between(other, contradiction(piece, twoHistories(why)));
  });
}

interface Timed {
  readonly piece: string;
  readonly index: bigint;
  /** RFC 3339 with milliseconds in UTC, so that texts compare as times. */
  readonly time: string;
}

/** The times of the leaves of each log, as far as places and times are proven. */
function timesOf(claims: readonly Claim[]): Map<string, Timed[]> {
  const times = new Map<string, Timed[]>();
  const note = (log: NamedLog, timed: Timed) => {
    const key = logOf(log);
    if (key !== undefined) appendTo(times, key, timed);
  };
  for (const { kind, piece, facts, by } of claims)
    for (const proof of by) {
      if (!('vds' in proof) || proof.vds !== 3) continue;
      const { log, tree_size: size, newest_leaf_at: newest } = proof;
      if (newest !== undefined) note(log, { piece, index: leafCount(BigInt(size!)) - 1n, time: newest });
      const [index, time] = [proof.type === 'inclusion' ? proof.leaf_index : undefined, facts.committed];
      if (kind === 'event' && index !== undefined && time !== undefined)
        note(log, { piece, index: BigInt(index), time });
    }
  return times;
}

/** Whether a leaf cannot follow another: idtimestamps rise along a log whatever its clock does. */
const isOutOfOrder = (latest: Timed, next: Timed): boolean =>
  next.index === latest.index ? next.time !== latest.time : next.time < latest.time;

function orderFindings(claims: readonly Claim[]): Partial<Findings>[] {
  const found: Partial<Findings>[] = [];
  for (const times of timesOf(claims).values()) {
    let latest: Timed | undefined;
    for (const next of times.sort((left, right) => Number(left.index - right.index))) {
      if (!latest || !isOutOfOrder(latest, next)) {
        latest = next;
        continue;
      }
      const why = `leaf ${next.index} of its log is of ${next.time}, but leaf ${latest.index}, in ${latest.piece}, is of ${latest.time}: the times of a log's leaves only rise`;
      found.push(between(latest.piece, contradiction(next.piece, new VerificationError('consistency_invalid', why))));
    }
  }
  return found;
}

/** The other piece of each contradiction between two. */
const others = new WeakMap<Contradiction, string>();

function between(other: string, found: Partial<Findings>): Partial<Findings> {
  for (const each of found.contradictions!) others.set(each, other);
  return found;
}

/**
 * Returns what refuses claims that cannot all be true of one log: two hashes in one place of its tree, shown by a path,
 * a copy or a signed root, or a leaf that is older than one before it. A log has only one history.
 */
export async function historyFindings(
  claims: readonly Claim[],
  counts: Counts = () => true,
): Promise<Partial<Findings>[]> {
  return [...(await nodeFindings(claims, counts)), ...orderFindings(claims)];
}

/**
 * Returns the verdict after a judgement has removed claims, with the histories of the remaining claims. A contradiction
 * with a removed claim becomes unproven, for two reasons: the thief of a revoked key must not be able to refuse genuine
 * evidence, and a log that revokes its own key must not hide its second history.
 */
export async function withKeptHistory(judged: Verdict, counts: Counts): Promise<Verdict> {
  const isOfHistory = (each: Contradiction) => others.has(each);
  const before = judged.contradictions.filter(isOfHistory);
  if (before.length === 0) return judged;
  const again = createVerdict(await historyFindings(judged.claims, counts));
  const kept = new Set(judged.claims.map(({ piece }) => piece));
  const refused = new Set(again.contradictions.map(({ piece, detail }) => `${piece} ${detail}`));
  const open = before
    .filter(({ piece, detail }) => !refused.has(`${piece} ${detail}`))
    .map((each) => {
      const other = others.get(each)!;
      const [dropped, genuine] = kept.has(each.piece) ? [other, each.piece] : [each.piece, other];
      const apart = other === each.piece ? 'two proofs of it differ' : `it differs from ${genuine}`;
      const why = `${apart} in the history of one log, and one of the two is by a key that does not count: a thief made it, or the log has signed two histories. Keep both`;
      return notCovered(dropped, 'unproven', why);
    });
  const rest = judged.contradictions.filter((each) => !isOfHistory(each));
  return createVerdict({ ...judged, contradictions: rest }, again, open);
}
