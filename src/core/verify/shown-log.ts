import { appendTo } from '../append-to.js';
import { equalBytes, fromHex, toHex } from '../bytes.js';
import { firstNode } from '../massif/massif-layout.js';
import type { Claim, InclusionProof, NamedLog, Proof, WitnessProof } from './claim.js';
import { coveredBytes } from './covered-bytes.js';
import { type HeldCopy, heldCopies, massifOfNode } from './held-copy.js';
import { logOf } from './log-of.js';
import { leafPlace, type ProvenNode } from './proven-nodes.js';

interface Placed {
  readonly piece: string;
  readonly proof: InclusionProof | WitnessProof;
}

interface Copy {
  readonly piece: string;
  readonly copy: HeldCopy;
}

/** What claims show of one log. */
interface ShownLog {
  readonly subject: string;
  readonly placed: Placed[];
  readonly copies: Copy[];
}

/** Two pieces that show different hashes in one place of a log. */
interface Conflict {
  readonly subject: string;
  readonly at: string;
  readonly piece: string;
  readonly other: string;
}

/** Whether a seal of an earlier generation in a copy counts, such as because its key was not revoked. */
export type Counts = (seal: Proof) => boolean;

/** The logs that claims show, each with all proofs and copies of it. A log without a name is left out. */
function shownLogs(claims: readonly Claim[], counts: Counts): ShownLog[] {
  const logs = new Map<string, ShownLog>();
  const shownOf = (vds: number, named: NamedLog): ShownLog | undefined => {
    const log = logOf(named);
    if (log === undefined) return undefined;
    const key = `${vds} ${log}`;
    const shown = logs.get(key) ?? { subject: named.subject!, placed: [], copies: [] };
    logs.set(key, shown);
    return shown;
  };
  for (const { piece, by } of claims)
    for (const proof of by) {
      if (proof.type === 'signature' || proof.type === 'digest') continue;
      for (const [seal, copy] of heldCopies(proof))
        if (seal === proof || counts(seal)) shownOf(3, seal.log)?.copies.push({ piece, copy });
      // Nobody signed a checkpoint without cosignatures. The origin of a checkpoint is the log's name.
      if (proof.type === 'seal' || (proof.type === 'witness' && proof.witnesses.length === 0)) continue;
      if (proof.leaf_index === undefined) continue;
      const [vds, named] = proof.type === 'witness' ? [1, { subject: proof.origin }] : [proof.vds, proof.log];
      shownOf(vds, named)?.placed.push({ piece, proof });
    }
  return [...logs.values()];
}

/** The leaf of a proof, in its place. What a witness proof is about has no leaf of its own. */
function leafOf(proof: Placed['proof']): ProvenNode[] {
  if (proof.type === 'witness' || proof.leaf_index === undefined) return [];
  const at = proof.vds === 1 ? leafPlace(BigInt(proof.leaf_index)) : proof.mmr_index;
  return at === undefined ? [] : [{ at, hash: fromHex(proof.leaf) }];
}

interface Known extends ProvenNode {
  readonly piece: string;
}

/** The hashes of one log, by their places, and the pieces that differ in one. */
class LogNodes {
  readonly known = new Map<string, Known>();
  readonly #conflicts = new Map<string, Conflict>();

  constructor(readonly subject: string) {}

  get conflicts(): Conflict[] {
    return [...this.#conflicts.values()];
  }

  add(node: Known): void {
    const known = this.known.get(node.at);
    if (!known) this.known.set(node.at, node);
    else this.compare(known, node.piece, node.hash);
  }

  /** Two pieces that differ in several places are named once, with the first of these. */
  compare({ at, hash, piece: other }: Known, piece: string, found: Uint8Array): void {
    if (equalBytes(hash, found)) return;
    const pair = JSON.stringify([piece, other].sort());
    if (!this.#conflicts.has(pair)) this.#conflicts.set(pair, { subject: this.subject, at, piece, other });
  }
}

/**
 * Paths that lead to one root of one size agree in every node, so that only their leaves need to be looked at. The peak of
 * a Merkle mountain range hashes its own place.
 */
function haveOneRoot({ placed, copies }: ShownLog): boolean {
  if (copies.length > 0) return false;
  const rootOf = ({ proof }: Placed) =>
    `${proof.tree_size} ${toHex(coveredBytes(proof).tree?.root ?? new Uint8Array())}`;
  const roots = new Set(placed.map(rootOf));
  return roots.size < 2;
}

/** Of each massif the copy that reaches furthest. It has what shorter ones have, or they differ where they end. */
function longestCopies(copies: readonly Copy[]): Map<number, Map<number, Copy>> {
  const heights = new Map<number, Map<number, Copy>>();
  for (const each of copies) {
    const { height, numbers, size } = each.copy;
    const longest = heights.get(height) ?? new Map<number, Copy>();
    heights.set(height, longest);
    for (const number of numbers) {
      const reach = ({ copy }: Copy) => (copy.size < firstNode(height, number + 1) ? copy.size : undefined);
      const known = longest.get(number);
      const knownReach = known && reach(known);
      if (!known || (knownReach !== undefined && knownReach < size)) longest.set(number, each);
    }
  }
  return heights;
}

async function compareWithCopies(nodes: LogNodes, copies: readonly Copy[]): Promise<void> {
  for (const [height, longest] of longestCopies(copies)) {
    const asked = new Map<number, Known[]>();
    for (const known of nodes.known.values()) {
      const number = massifOfNode(height, BigInt(known.at));
      const { copy } = longest.get(number) ?? {};
      if (!copy || BigInt(known.at) >= copy.size || copy.edges.has(known.at)) continue;
      appendTo(asked, number, known);
    }
    for (const [number, asks] of asked) {
      const { piece, copy } = longest.get(number)!;
      const massif = await copy.massif(number);
      for (const known of asks) nodes.compare(known, piece, massif.nodeAt(BigInt(known.at)));
    }
  }
}

async function conflictsOf(log: ShownLog): Promise<Conflict[]> {
  const { subject, placed, copies } = log;
  // One piece agrees with itself; a copy may show very many generations, each of which is a log.
  if (placed.length + copies.length < 2) return [];
  const nodes = new LogNodes(subject);
  for (const { piece, proof } of placed) for (const leaf of leafOf(proof)) nodes.add({ ...leaf, piece });
  if (!haveOneRoot(log))
    for (const { piece, proof } of placed)
      for (const node of coveredBytes(proof).tree?.nodes() ?? []) nodes.add({ ...node, piece });
  for (const { piece, copy } of copies)
    for (const [at, hash] of copy.edges) if (BigInt(at) < copy.size) nodes.add({ at, hash, piece });
  await compareWithCopies(nodes, copies);
  return nodes.conflicts;
}

/**
 * Returns where claims show different hashes in one place of one log: leaves, paths to signed roots and peaks, and
 * copies of the log. Time and memory grow with the size of the evidence, because no two pieces are compared with each
 * other.
 */
export async function conflictsAmong(claims: readonly Claim[], counts: Counts): Promise<Conflict[]> {
  const found: Conflict[] = [];
  for (const log of shownLogs(claims, counts)) found.push(...(await conflictsOf(log)));
  return found;
}
