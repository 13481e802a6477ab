import { expect } from 'vitest';
import { toHex } from '../../src/core/bytes.js';
import type { PublicJwk } from '../../src/core/cose/public-key.js';
import { consistencyProofPaths } from '../../src/core/mmr/consistency-proof-paths.js';
import { consistentRoots } from '../../src/core/mmr/consistent-roots.js';
import { peaks as peakIndices } from '../../src/core/mmr/peaks.js';
import { readSeal } from '../../src/core/receipt/seal.js';
import { type RecomputedMassif, recomputeMassif } from '../../src/core/verify/verify-massif.js';
import { verifySeal } from '../../src/core/verify/verify-seal.js';
import { type Journal, until } from './journal.js';

/** The keys that a follower of the service believes. */
export interface Trust {
  readonly logKeys: readonly PublicJwk[];
  readonly issuerKeys: readonly PublicJwk[];
}

/** A tenancy log, and its state when it was last read: a later state must contain that one. */
export class FollowedLog {
  readonly subject: string;
  readonly isPublicLog: boolean;
  readonly #journal: Journal;
  /** As last read, the open one at the end. */
  #massifs: readonly RecomputedMassif[] = [];
  #size = 0n;
  #peaks: readonly Uint8Array[] = [];

  constructor(subject: string, isPublicLog: boolean, journal: Journal) {
    this.subject = subject;
    this.isPublicLog = isPublicLog;
    this.#journal = journal;
  }

  /**
   * Reads the massifs under their seals, and proves that the log continues its last state. Resolves with its leaves.
   * @param from which massifs are read: without it, only the last one that is known and what follows it
   */
  async follow(url: string, trust: Trust, from?: 'from the first massif'): Promise<number> {
    const known = from ? [] : this.#massifs.slice(0, -1);
    const massifs = (await until(
      () => this.#read(url, trust, known),
      (read) => read !== undefined,
    ))!;
    const { size, peaks, firstLeaf, entries } = massifs.at(-1)!;
    this.#checkConsistency(massifs);
    this.#massifs = massifs;
    this.#size = size;
    this.#peaks = peaks;
    return Number(firstLeaf) + entries.length;
  }

  /** Undefined when the log grew between its two files, or when its seal is not published yet. */
  async #read(url: string, trust: Trust, known: readonly RecomputedMassif[]): Promise<RecomputedMassif[] | undefined> {
    const massifs = [...known];
    for (let index = known.length; ; index += 1) {
      const file = index.toString().padStart(16, '0');
      const base = `/verifiabledata/merklelogs/v1/mmrs/${this.subject}/0`;
      const massif = await this.#journal.get(url, `${base}/massifs/${file}.log`);
      if (massif.status === 404) return massifs;
      const verified = recomputeMassif(massif.bytes);
      const seal = await this.#journal.get(url, `${base}/massifseals/${file}.sth`);
      if (seal.status === 404 || readSeal(seal.bytes).state.size !== verified.size) return undefined;
      await verifySeal(seal.bytes, verified.peaks, { ...trust, log: { subject: this.subject } });
      const first = verified.entries[0]!.idtimestamp;
      if (index > 0) expect(first > massifs[index - 1]!.lastIdtimestamp).toBe(true);
      massifs.push(verified);
    }
  }

  #checkConsistency(massifs: readonly RecomputedMassif[]): void {
    const { size, peaks } = massifs.at(-1)!;
    const nodeAt = (node: bigint): Uint8Array =>
      massifs.find((massif) => node >= massif.firstNode && node < massif.size)!.nodeAt(node);
    const paths = consistencyProofPaths(this.#size, size).map((path) => path.map(nodeAt));
    const reached = consistentRoots(this.#size, this.#peaks, paths);
    expect(reached.map(toHex)).toEqual(peaks.slice(0, reached.length).map(toHex));
    expect(peakIndices(size).map(nodeAt).map(toHex)).toEqual(peaks.map(toHex));
  }
}
