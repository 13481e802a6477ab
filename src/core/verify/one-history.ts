import { equalBytes } from '../bytes.js';
import { VerificationError } from '../errors.js';
import type { Massif } from '../massif/read-massif.js';
import { leafCount } from '../mmr/leaf-count.js';
import type { Claim, InclusionProof, NamedLog, Proof, SealProof } from './claim.js';
import { logOf } from './log-of.js';
import type { VerifiedSeal } from './proofs.js';
import { contradiction, type Findings } from './verdict.js';
import { peaksAt } from './verify-log.js';

/** A proven copy of a log, as far as a seal covers it. */
interface HeldLog {
  readonly size: bigint;
  /** Peaks of the log at that size. */
  readonly peaks: readonly Uint8Array[];
  /** The massif in which a size ends; undefined if the copy does not have it. */
  massifOver(size: bigint): Promise<Massif | undefined>;
}

const held = new WeakMap<Proof, HeldLog>();

/**
 * Notes the copy of a log that a seal's proof is about, so that it can be compared with other copies. Returns the proof.
 * @param massif the one in which the sealed state ends
 * @param massifOver any massif of the copy, by a size that ends in it
 */
export function holding(
  proof: SealProof,
  { state: { size } }: VerifiedSeal,
  massif: Massif,
  massifOver: HeldLog['massifOver'],
): SealProof {
  held.set(proof, { size, peaks: peaksAt(massif, size), massifOver });
  return proof;
}

/** Finds the massif in which a size ends among massifs that are in memory. */
export function among(massifs: readonly Massif[]): HeldLog['massifOver'] {
  return async (size) => massifs.find((massif) => size > massif.firstNode && size <= massif.size);
}

interface Placed {
  readonly piece: string;
  readonly proof: InclusionProof;
}

function placesOf(claims: readonly Claim[]): Map<string, Placed[]> {
  const places = new Map<string, Placed[]>();
  for (const { piece, by } of claims)
    for (const proof of by) {
      if (proof.type !== 'inclusion' || proof.leaf_index === undefined) continue;
      const log = logOf(proof.log);
      if (log === undefined) continue;
      const place = `${proof.vds} ${log} ${proof.leaf_index}`;
      places.set(place, [...(places.get(place) ?? []), { piece, proof }]);
    }
  return places;
}

const twoHistories = (why: string) =>
  new VerificationError('consistency_invalid', `${why}: the log has signed two histories`);

function placeFindings(claims: readonly Claim[]): Partial<Findings>[] {
  return [...placesOf(claims).values()].flatMap(([first, ...others]) =>
    others
      .filter(({ proof }) => proof.leaf !== first!.proof.leaf)
      .map(({ piece, proof: { log, leaf_index: index } }) =>
        contradiction(
          piece,
          twoHistories(`it is entry ${index} of the log "${log.subject}", and so is ${first!.piece}, which is another`),
        ),
      ),
  );
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
    if (key === undefined) return;
    const known = times.get(key);
    if (known) known.push(timed);
    else times.set(key, [timed]);
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

/** Idtimestamps rise along a log whatever its clock does: the next one is above the last. */
function orderFindings(claims: readonly Claim[]): Partial<Findings>[] {
  return [...timesOf(claims).values()].flatMap((times) => {
    const found: Partial<Findings>[] = [];
    times.sort((left, right) => Number(left.index - right.index));
    times.reduce((latest, next) => {
      if (next.index === latest.index ? next.time === latest.time : next.time >= latest.time) return next;
      const why = `leaf ${next.index} of its log is of ${next.time}, but leaf ${latest.index}, in ${latest.piece}, is of ${latest.time}: the times of a log's leaves only rise`;
      found.push(contradiction(next.piece, new VerificationError('consistency_invalid', why)));
      return latest;
    });
    return found;
  });
}

interface Copy {
  readonly piece: string;
  readonly log: string;
  readonly copy: HeldLog;
}

function copiesOf(claims: readonly Claim[]): Copy[] {
  return claims.flatMap(({ piece, by }) =>
    by.flatMap((proof) => {
      const copy = held.get(proof);
      const log = proof.type === 'seal' ? logOf(proof.log) : undefined;
      return copy && log !== undefined ? [{ piece, log, copy }] : [];
    }),
  );
}

/** Whether a copy has the nodes that an older state of the log has; undefined if it does not have that part. */
async function extendsState(copy: HeldLog, { size, peaks }: HeldLog): Promise<boolean | undefined> {
  if (size > copy.size) return undefined;
  const massif = await copy.massifOver(size);
  return massif && peaksAt(massif, size).every((peak, place) => equalBytes(peak, peaks[place]!));
}

async function copyFindings(claims: readonly Claim[]): Promise<Partial<Findings>[]> {
  const found: Partial<Findings>[] = [];
  const copies = copiesOf(claims);
  for (const older of copies)
    for (const newer of copies) {
      if (older === newer || older.log !== newer.log) continue;
      if ((await extendsState(newer.copy, older.copy)) !== false) continue;
      const why = `it holds other nodes below size ${older.copy.size} than ${older.piece}`;
      found.push(contradiction(newer.piece, twoHistories(why)));
    }
  return found;
}

/**
 * What refuses claims that cannot all be true of one log: two entries in one place, a leaf that is older than one before
 * it, and copies of which none extends the other. A log has one history, whatever files show it.
 */
export async function historyFindings(claims: readonly Claim[]): Promise<Partial<Findings>[]> {
  return [...placeFindings(claims), ...orderFindings(claims), ...(await copyFindings(claims))];
}
