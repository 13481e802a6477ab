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

/** A log as its row has it. Sizes count nodes, `leaves` counts leaves. */
export interface LogState extends LogRef {
  readonly structure: LogStructure;
  /** The subject of every receipt of the log; never changes. */
  readonly name: string;
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

/** How the log hashes two children. */
export function parentHash(structure: LogStructure): ParentHash {
  return structure === 'MMR_SHA256' ? MMR_PARENT : RFC9162_PARENT;
}
