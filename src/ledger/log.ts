import { firstName, generationName } from '../core/fork/log-generation.js';
import { hashPosPair64With } from '../core/mmr/hash-pos-pair64.js';
import type { ParentHash } from '../core/mmr/parent-hash.js';
import { rfc9162ParentWith } from '../core/rfc9162/rfc9162-parent.js';
import { nodeSha256 } from '../platform/node-sha256.js';

/**
 * The two tree structures; both number their nodes in post order and differ only in the hash
 * (docs/design/README.md#logs).
 */
export type LogStructure = 'MMR_SHA256' | 'RFC9162_SHA256';

/** Identifies a log: every key begins with the tenancy that owns it. */
export interface LogRef {
  readonly tenantId: string;
  readonly logId: string;
}

/** The MMR log of a tenancy has the tenancy's own id, so paths and events that carry one name the other too. */
export function tenancyLog(tenantId: string): LogRef {
  return { tenantId, logId: tenantId };
}

/** An open fork of a log: the seals after this one are of the next generation (docs/formats/fork.md). */
export interface ForkedAt {
  readonly generation: number;
  /** The last seal of the generation before; 0 if it had none. */
  readonly sealNumber: bigint;
  /** Leaves that both generations share. The fork statement is the leaf with this index. */
  readonly leaves: bigint;
  /** Of the fork statement. */
  readonly entryId: string;
}

/** Identifies a log and its generations: the objects and names of its seals depend on them. */
export interface ForkedLog extends LogRef {
  /** In order; none unless the operator has forked the log openly. */
  readonly forks?: readonly ForkedAt[];
}

/** A log as its row has it. Sizes count nodes, `leaves` counts leaves. */
export interface LogState extends LogRef {
  readonly structure: LogStructure;
  /** The subject of every receipt that the log signs now. Only an open fork changes it. */
  readonly name: string;
  readonly forks: readonly ForkedAt[];
  /** One-based, as in massif files; a massif has 2^(height−1) leaves. */
  readonly massifHeight: number;
  readonly size: bigint;
  readonly leaves: bigint;
  readonly lastIdtimestamp: bigint;
  readonly leaseEpoch: bigint;
  /** The number of the last seal; 0 before the first. */
  readonly sealNumber: bigint;
  readonly sealedSize: bigint;
  readonly publishedNumber: bigint;
  readonly publishedSize: bigint;
  readonly halted: string | null;
}

const MMR_PARENT = hashPosPair64With(nodeSha256);
const RFC9162_PARENT = rfc9162ParentWith(nodeSha256);

/** The generation that made a seal of a log, or makes it. */
export function generationAt({ forks = [] }: Pick<ForkedLog, 'forks'>, sealNumber: bigint): number {
  return forks.findLast((fork) => fork.sealNumber < sealNumber)?.generation ?? 0;
}

/** The generation that a log is in now. */
export function currentGeneration({ forks = [] }: Pick<ForkedLog, 'forks'>): number {
  return forks.at(-1)?.generation ?? 0;
}

/** The name that a log has in one of its seals. */
export function nameAt(log: Pick<LogState, 'name' | 'forks'>, sealNumber: bigint): string {
  return generationName({ base: firstName(log.name), generation: generationAt(log, sealNumber) });
}

/** How the log hashes two children. */
export function parentHash(structure: LogStructure): ParentHash {
  return structure === 'MMR_SHA256' ? MMR_PARENT : RFC9162_PARENT;
}
