import { utf8 } from '../../../src/core/bytes.js';
import type { Signer } from '../../../src/core/cose/signature.js';
import { assetEventLeaf } from '../../../src/core/event/asset-event-leaf.js';
import { buildMassif } from '../../../src/core/massif/build-massif.js';
import { idtimestampHex } from '../../../src/core/massif/idtimestamp.js';
import { firstNode, leavesPerMassif } from '../../../src/core/massif/massif-layout.js';
import { peakStackIndices } from '../../../src/core/massif/peak-stack.js';
import { type TrieEntry, trieKey } from '../../../src/core/massif/trie-entry.js';
import { appendLeaves } from '../../../src/core/mmr/append-leaves.js';
import { hashPosPair64 } from '../../../src/core/mmr/hash-pos-pair64.js';
import { inclusionProofPath } from '../../../src/core/mmr/inclusion-proof-path.js';
import { leafCount, mmrIndex, sizeOfLeaves } from '../../../src/core/mmr/leaf-count.js';
import { peaks as peakIndices } from '../../../src/core/mmr/peaks.js';
import { tenancyLogSubject } from '../../../src/core/receipt/log-claims.js';
import { attachInclusion, peakReceipt } from '../../../src/core/receipt/mmr-receipt.js';
import { createSeal, SEAL_VERSION } from '../../../src/core/receipt/seal.js';
import type { AssetEventDocument } from '../../../src/core/statement/event-document.js';
import { SAMPLE_TENANCY, sampleAssetEvent, sampleSigners } from './sample-transparent-statement.js';

const FIRST_ID = 0x9470003611017900n;
const HEIGHT = 3;

/** A log of asset events, in massifs of four leaves. */
export interface SampleSealedLog {
  readonly events: readonly AssetEventDocument[];
  readonly leaves: readonly Uint8Array[];
  readonly nodes: readonly Uint8Array[];
  /** The file of a massif when the log had so many leaves. */
  massif(massif: number, leaves?: number): Uint8Array;
  /** The seal over a state of so many leaves; later ones are sealed later unless told, with the time of the last leaf. */
  seal(leaves?: number, sealedAtMs?: number, idtimestamp?: bigint): Promise<Uint8Array>;
  /** The receipt of a leaf when the log had so many. */
  receipt(leaf: number, leaves?: number): Promise<Uint8Array>;
}

/** Who keeps a sample log, and what its events are. */
export interface SampleLogPlan {
  readonly leaves: number;
  readonly tenancy?: string;
  /** The name that its seals and receipts give it. */
  readonly issuer?: string;
  readonly subject?: string;
  readonly signer?: Signer;
  readonly event?: (leaf: number) => Partial<AssetEventDocument>;
  /** Idtimestamps of its leaves; they rise by a millisecond unless told. */
  readonly idAt?: (leaf: number) => bigint;
  readonly trieIdentity?: (event: AssetEventDocument) => string;
  /** Something else than an event at a place; undefined: the event. */
  readonly otherLeaf?: (leaf: number, idtimestamp: bigint) => Uint8Array | undefined;
}

const risingId = (leaf: number): bigint => FIRST_ID + (BigInt(leaf) << 24n);

function sampleEvent(plan: SampleLogPlan, leaf: number): AssetEventDocument {
  const idtimestamp = idtimestampHex((plan.idAt ?? risingId)(leaf));
  return {
    ...sampleAssetEvent({ step: String(leaf) }),
    identity: `assets/0192e8f5-1111-7000-8000-000000000001/events/0192e8f5-2222-7000-8000-${String(leaf).padStart(12, '0')}`,
    tenant_identity: `tenant/${plan.tenancy ?? SAMPLE_TENANCY}`,
    merklelog_entry: { commit: { index: String(mmrIndex(BigInt(leaf))), idtimestamp } },
    ...plan.event?.(leaf),
  };
}

/** Makes a log with the real formats, small enough to read. */
export function sampleSealedLog(plan: SampleLogPlan): SampleSealedLog {
  const { signer = sampleSigners.sealer, tenancy = SAMPLE_TENANCY, issuer = 'https://archive.example' } = plan;
  const { idAt = risingId } = plan;
  const name = { issuer, subject: plan.subject ?? tenancyLogSubject(tenancy) };
  const events = Array.from({ length: plan.leaves }, (_, leaf) => sampleEvent(plan, leaf));
  const leaves = events.map((event, leaf) => plan.otherLeaf?.(leaf, idAt(leaf)) ?? assetEventLeaf(event, idAt(leaf)));
  const { nodes } = appendLeaves(hashPosPair64, 0n, [], leaves);
  const identity = plan.trieIdentity ?? ((event) => event.identity.replace(/^public/, ''));
  const entries: TrieEntry[] = events.map((event, leaf) => ({
    key: trieKey(utf8(tenancyLogSubject(tenancy)), identity(event)),
    extraBytes: new Uint8Array(24),
    idtimestamp: idAt(leaf),
  }));
  const peaksOf = (size: bigint) => peakIndices(size).map((index) => nodes[Number(index)]!);
  const signedPeaks = (size: bigint) => Promise.all(peaksOf(size).map((peak) => peakReceipt(peak, signer, name)));
  return {
    events,
    leaves,
    nodes,
    massif(massif, count = plan.leaves) {
      const first = massif * leavesPerMassif(HEIGHT);
      const last = Math.min(count, first + leavesPerMassif(HEIGHT));
      return buildMassif({
        height: HEIGHT,
        massif,
        entries: entries.slice(first, last),
        peakStack: peakStackIndices(HEIGHT, massif).map((index) => nodes[Number(index)]!),
        nodes: nodes.slice(Number(firstNode(HEIGHT, massif)), Number(sizeOfLeaves(BigInt(last)))),
      });
    },
    async seal(count = plan.leaves, sealedAtMs = 1737045850000 + count, idtimestamp = idAt(count - 1)) {
      const size = sizeOfLeaves(BigInt(count));
      const state = { size, sealedAtMs, idtimestamp, epoch: 1, version: SEAL_VERSION };
      return createSeal(state, peaksOf(size), signer, name, await signedPeaks(size));
    },
    async receipt(leaf, count = plan.leaves) {
      const size = sizeOfLeaves(BigInt(count));
      const index = mmrIndex(BigInt(leaf));
      const path = inclusionProofPath(size, index).map((node) => nodes[Number(node)]!);
      const signed = (await signedPeaks(size))[peakAbove(size, index)]!;
      return attachInclusion(signed, index, path, 'draft');
    },
  };
}

function peakAbove(size: bigint, index: bigint): number {
  if (leafCount(size) === 0n) throw new TypeError('an empty log has no peak');
  return peakIndices(size).findIndex((peak) => index <= peak);
}
