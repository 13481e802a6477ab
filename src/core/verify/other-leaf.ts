import { equalBytes } from '../bytes.js';
import { forkTrieKey } from '../fork/fork-leaf.js';
import { generationName, parseGeneration } from '../fork/log-generation.js';
import { indexHeight } from '../mmr/index-height.js';
import { leafIndex } from '../mmr/leaf-count.js';
import type { EventDocument } from '../statement/event-document.js';
import type { InclusionProof, NamedLog } from './claim.js';
import { logOf } from './log-of.js';
import { namedLog } from './proofs.js';
import { type Findings, notCovered } from './verdict.js';
import { eventCommit, eventLeaf } from './verify-event.js';
import { eventTrieKey } from './verify-event-in-log.js';
import type { ProvenMassif } from './verify-log.js';

/**
 * A copy of an event's log that has another leaf at the event's place. After an open fork this does not always refuse
 * the event: each generation has its own leaves after those that it shares.
 */
export interface OtherLeaf {
  readonly log: NamedLog;
  /** Whether the copy has this event there, by its identity or its idtimestamp: then the event was changed. */
  readonly isSameEvent: boolean;
  /** Whether the place is one that the copy shares with the log before any fork; undefined if no given file shows it. */
  readonly isShared: () => boolean | undefined;
  /** What refuses the event if the copy is of the generation that the event is from. */
  readonly refusal: Partial<Findings>;
}

/** Leaf index of the first fork statement of each log, by `logOf`, as far as given files show it. */
export type ForkPlaces = Map<string, bigint>;

/** Bounds the work for a name that states any generation: its log was first forked into one of these. */
const MOST_GENERATIONS = 64;

/** Records the first fork statement of a log if this massif has it. Below it, all generations have the same leaves. */
export function noteFork(places: ForkPlaces, { massif: { entries, firstLeaf }, seal }: ProvenMassif): void {
  const [log, name] = [logOf(seal), parseGeneration(seal.subject ?? '')];
  if (log === undefined || !name || places.has(log)) return;
  const count = Math.min(name.generation, MOST_GENERATIONS);
  const keys = Array.from({ length: count }, (_, before) =>
    forkTrieKey(generationName({ base: name.base, generation: before + 1 })),
  );
  const at = entries.findIndex((entry) => keys.some((key) => equalBytes(entry.key, key)));
  if (at >= 0) places.set(log, firstLeaf + BigInt(at));
}

/**
 * Returns what a massif of the event's own log has in the event's place; undefined if it is the event's leaf, or if the
 * massif has no leaf in that place.
 * @param refusal the findings of the check that failed
 * @param forks looked at when all files were read
 */
export function otherLeaf(
  event: EventDocument,
  { massif, seal }: ProvenMassif,
  refusal: Partial<Findings>,
  forks: ForkPlaces,
): OtherLeaf | undefined {
  const { leaf, mmrIndex } = eventLeaf(event);
  if (indexHeight(mmrIndex) !== 0 || mmrIndex < massif.firstNode || mmrIndex >= massif.size) return undefined;
  if (equalBytes(massif.nodeAt(mmrIndex), leaf)) return undefined;
  const log = namedLog(seal);
  const place = leafIndex(mmrIndex);
  const there = massif.entries[Number(place - massif.firstLeaf)]!;
  const key = eventTrieKey(event, seal);
  const isAt = eventCommit(event).idtimestamp.endsWith(there.idtimestamp.toString(16).padStart(16, '0'));
  return {
    log,
    isSameEvent: isAt || (key !== undefined && equalBytes(there.key, key)),
    isShared() {
      const fork = forks.get(logOf(log) ?? '');
      return fork === undefined ? undefined : place < fork;
    },
    refusal,
  };
}

const isLaterGeneration = ({ subject = '' }: NamedLog): boolean => (parseGeneration(subject)?.generation ?? 0) > 0;

/**
 * Returns what copies with another leaf mean for an event.
 * If a proof holds the event in another generation, they mean nothing, except at a place that the generations share:
 * then a later generation has rewritten it. Without such a proof, the copy of a later generation leaves the event
 * unproven, because an earlier one may have held it. Otherwise they refuse the event.
 * @param proofs all that prove the event's leaf
 */
export function otherLeafFindings(
  piece: string,
  others: readonly OtherLeaf[],
  proofs: readonly InclusionProof[],
): Partial<Findings>[] {
  const holders = new Set(proofs.map(({ log }) => logOf(log)));
  const isHeldByFirst = proofs.some(({ log }) => !isLaterGeneration(log));
  return others.flatMap(({ log, isSameEvent, isShared, refusal }) => {
    const name = logOf(log);
    if (name === undefined || holders.has(name)) return [refusal];
    const open = (why: string) => [
      notCovered(piece, 'unproven', `the log "${log.subject}" has another leaf in its place, and ${why}`),
    ];
    if (holders.size === 0)
      return isSameEvent || !isLaterGeneration(log)
        ? [refusal]
        : open('no given file proves that an earlier generation of the log held it');
    if (!isHeldByFirst || !isLaterGeneration(log)) return [];
    const shared = isShared();
    if (shared === undefined) return open('the given files do not show whether that log was forked before this place');
    return shared ? [refusal] : [];
  });
}
