import { equalBytes } from '../../core/bytes.js';
import { keyThumbprint } from '../../core/cose/cose-key.js';
import { VerificationError } from '../../core/errors.js';
import { parseGeneration } from '../../core/fork/log-generation.js';
import type { ReadFork } from '../../core/fork/read-fork-statement.js';
import { massifOfSize } from '../../core/massif/massif-layout.js';
import type { Massif } from '../../core/massif/read-massif.js';
import { leafCount } from '../../core/mmr/leaf-count.js';
import { claimedJwk } from '../../core/receipt/log-claims.js';
import type { Seal } from '../../core/receipt/seal.js';
import type { LogTrust } from '../../core/verify/trust.js';
import { type ProvenMassif, verifySealOfMassif } from '../../core/verify/verify-log.js';
import { counted } from '../counted.js';
import { LogUnreachable } from './fetch-file.js';
import { followFork } from './follow-fork.js';
import type { KeptFiles } from './kept-files.js';
import { type AreKeysOutdated, checkNewestKeys } from './keys-outdated.js';
import { MOST_AWAITED_MS } from './known-entry.js';
import { type RegisteredSeal, waitingSeals } from './registered-seals.js';

/** Registered seals of one tenancy log, compared with its massifs one after the other. */
export interface RegisteredComparison {
  /** The number of the first massif in which one of them ends; undefined without seals. */
  firstMassif(height: number): number | undefined;
  /** Checks the seals that end in a massif, up to a size in nodes, against the nodes of the massif. */
  compare(massif: Massif, size: bigint): Promise<void>;
  /**
   * Judges the seals by what was compared. Resolves with the number of seals that hold, and with those that the log has not
   * reached.
   * @throws {VerificationError} `consistency_invalid` at the first one that contradicts the log
   */
  judge(head: ProvenMassif | undefined, forks: () => Promise<readonly ReadFork[]>): Promise<JudgedSeals>;
}

/** The result of a comparison. */
interface JudgedSeals {
  readonly held: number;
  /** Leaves under the largest one that holds; 0 without one. */
  readonly covered: bigint;
  readonly ahead: readonly RegisteredSeal[];
  /** How many could not be compared, because their keys were not given. */
  readonly unknown: number;
}

/** Nobody gives a key that cannot be read. */
function thumbprintOf(seal: Seal): Uint8Array | undefined {
  try {
    const claimed = claimedJwk(seal);
    return claimed && keyThumbprint(claimed);
  } catch (error) {
    if (error instanceof VerificationError) return undefined;
    throw error;
  }
}

/**
 * Begins the comparison of the registered seals that wait for a tenancy log. One by a key that was not given is left out.
 * @param kept of the tenancy log; it takes the seal that contradicts the log
 * @throws {StateDamaged}
 * @throws {KeysOutdated} if a seal may be by a newer key
 */
export async function compareWaiting(
  trust: LogTrust,
  kept: KeptFiles,
  outdated: AreKeysOutdated | undefined,
): Promise<RegisteredComparison> {
  const waiting = await waitingSeals(kept);
  const known = trust.logKeys.map(keyThumbprint);
  const seals = waiting.filter(({ seal }) => {
    const thumbprint = thumbprintOf(seal);
    return thumbprint !== undefined && known.some((each) => equalBytes(each, thumbprint));
  });
  const unknown = waiting.length - seals.length;
  if (unknown > 0) await checkNewestKeys(outdated);
  return comparisonOf({ seals, unknown, trust, kept });
}

interface Comparing {
  readonly seals: readonly RegisteredSeal[];
  readonly unknown: number;
  readonly trust: LogTrust;
  readonly kept: KeptFiles;
}

function comparisonOf(comparing: Comparing): RegisteredComparison {
  const { seals, unknown, trust, kept } = comparing;
  const refusals = new Map<RegisteredSeal, VerificationError>();
  return {
    firstMassif(height) {
      if (seals.length === 0) return undefined;
      return Math.min(...seals.map(({ seal }) => massifOfSize(height, seal.state.size)));
    },
    async compare(massif, size) {
      for (const each of seals) {
        const { size: sealed } = each.seal.state;
        if (sealed <= massif.firstNode || sealed > size) continue;
        const refused = await refusal(verifySealOfMassif(each.entry, massif, trust));
        if (refused) refusals.set(each, refused);
      }
    },
    async judge(head, forks) {
      const ahead: RegisteredSeal[] = [];
      const held: bigint[] = [];
      let published: readonly ReadFork[] | undefined;
      for (const each of seals) {
        if (!head || generation(each.seal) > generation(head.seal)) {
          ahead.push(each);
          continue;
        }
        if (each.seal.subject !== head.seal.subject) {
          published ??= await forks();
          if (await isLost(each, head, published, comparing)) continue;
        }
        const refused = refusals.get(each);
        if (refused) await contradicts(each, refused.message, kept);
        if (each.seal.state.size > head.seal.state.size) ahead.push(each);
        else held.push(leafCount(each.seal.state.size));
      }
      const covered = held.reduce((most, leaves) => (leaves > most ? leaves : most), 0n);
      return { held: held.length, covered, ahead, unknown };
    },
  };
}

const generation = ({ subject = '' }: Seal): number => parseGeneration(subject)?.generation ?? 0;

async function contradicts(each: RegisteredSeal, reason: string, kept: KeptFiles): Promise<never> {
  await kept.alarm(REGISTERED_SEAL, each.entry);
  throw new VerificationError('consistency_invalid', `${naming(each)} contradicts the log: ${reason}`);
}

/** Whether an open fork into the log of today lost the sealed state. */
async function isLost(
  each: RegisteredSeal,
  head: ProvenMassif,
  forks: readonly ReadFork[],
  { trust, kept }: Comparing,
): Promise<boolean> {
  const sealed = { name: each.seal.subject!, leaves: leafCount(each.seal.state.size) };
  try {
    const fork = await followFork(sealed, head.seal.subject!, forks, trust.logKeys);
    return fork.kept < sealed.leaves;
  } catch (error) {
    if (error instanceof VerificationError) return contradicts(each, error.message, kept);
    throw error;
  }
}

async function refusal(check: Promise<unknown>): Promise<VerificationError | undefined> {
  try {
    await check;
    return undefined;
  } catch (error) {
    if (error instanceof VerificationError) return error;
    throw error;
  }
}

const naming = ({ origin, index, seal }: RegisteredSeal): string =>
  `the seal over ${counted(leafCount(seal.state.size), 'leaf', 'leaves')} that is registered as entry ${index} of ${origin}`;

/** Name of a registered seal in an alarm. */
const REGISTERED_SEAL = 'registered.sth';
/** File of the smallest registered seal that the log has not reached, since it was first seen. */
const AWAITED = 'awaited.sth';

/**
 * Checks that a log has reached every registered seal. It may be late for ten minutes.
 * @throws {LogUnreachable} until then
 * @throws {VerificationError} `consistency_invalid` after that: who shows an older state than was registered can show
 *   another history
 */
export async function checkReached({ ahead }: JudgedSeals, kept: KeptFiles, nowMs: number): Promise<void> {
  const [first] = ahead.toSorted((one, other) => (one.seal.state.size < other.seal.state.size ? -1 : 1));
  if (!first) return;
  await kept.write(AWAITED, first.entry);
  if (nowMs - ((await kept.changedAt(AWAITED)) ?? nowMs) <= MOST_AWAITED_MS)
    throw new LogUnreachable(`it has not reached ${naming(first)}`);
  await kept.alarm(REGISTERED_SEAL, first.entry);
  throw new VerificationError('consistency_invalid', `it has not reached ${naming(first)} for more than ten minutes`);
}

/** Says what was compared with a log; empty if there was nothing. */
export function comparedText({ held, unknown }: JudgedSeals): string {
  const seals = (count: number) => counted(count, 'registered seal');
  const text = held > 0 ? `; agrees with ${seals(held)}` : '';
  return unknown > 0 ? `${text}; ${seals(unknown)} by keys that were not given` : text;
}
