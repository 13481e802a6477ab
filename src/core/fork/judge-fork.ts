import { VerificationError } from '../errors.js';
import { parseGeneration } from './log-generation.js';
import type { ReadFork } from './read-fork-statement.js';

/** A state of a log that a follower has seen. */
export interface SeenLog {
  readonly name: string;
  readonly leaves: bigint;
}

/** What an open fork leaves of a state that was seen. */
export interface OpenFork {
  /** The statement that begins the newest log. */
  readonly newest: ReadFork;
  /** The statement that names the last seal of the log that was seen. */
  readonly ended: ReadFork;
  /** How many of the seen leaves the newest log must hold unchanged; the rest was lost. */
  readonly kept: bigint;
}

function silent(reason: string): VerificationError {
  return new VerificationError('consistency_invalid', `${reason}: a silent fork`);
}

/**
 * Judges a log whose name changed. The fork is open if statements lead from the seen name to the newest one without a
 * gap, and if one of them names a last seal of the seen log that is not smaller than what was seen. The caller must check
 * the signatures, that the newest log holds the newest statement at index `newest.leaves`, that it holds the kept
 * leaves, and if `ended.last.leaves` equals the seen size, that its seal is over the seen state.
 * @param forks the statements of all generations, in any order
 * @throws {VerificationError} `consistency_invalid` at a fork that is not open
 */
export function judgeFork(seen: SeenLog, newestName: string, forks: readonly ReadFork[]): OpenFork {
  const [from, to] = [parseGeneration(seen.name), parseGeneration(newestName)];
  if (!from || to?.base !== from.base)
    throw new VerificationError('log_mismatch', `the log is "${newestName}", not "${seen.name}"`);
  if (to.generation < from.generation)
    throw new VerificationError('consistency_invalid', `the log is "${newestName}" after "${seen.name}": a rollback`);
  const since = Array.from({ length: to.generation - from.generation }, (_, place) => {
    const generation = from.generation + place + 1;
    const named = forks.filter((fork) => {
      const { base, generation: of } = parseGeneration(fork.log)!;
      return base === to.base && of === generation;
    });
    if (named.length !== 1) throw silent(`${named.length} statements name "${from.base}.${generation}"`);
    return named[0]!;
  });
  const newest = since.at(-1);
  if (!newest) throw silent(`"${newestName}" is no other log`);
  const ended = since.find(({ last }) => last.log === seen.name);
  if (!ended) throw silent(`no statement names the last seal of "${seen.name}"`);
  if (seen.leaves > ended.last.leaves)
    throw silent(`the last seal of "${seen.name}" is said to have ${ended.last.leaves} leaves, after ${seen.leaves}`);
  const kept = since.reduce((least, { leaves }) => (leaves < least ? leaves : least), seen.leaves);
  return { newest, ended, kept };
}
