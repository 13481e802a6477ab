import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { concatBytes } from '../../../src/core/bytes.js';
import { type CborValue, encodeCbor } from '../../../src/core/cose/cbor.js';
import { consistencyProofPaths } from '../../../src/core/mmr/consistency-proof-paths.js';
import { consistentRoots } from '../../../src/core/mmr/consistent-roots.js';
import { sizeOfLeaves } from '../../../src/core/mmr/leaf-count.js';
import { peakReceipt, readMmrConsistencyReceipt } from '../../../src/core/receipt/mmr-receipt.js';
import { attachProof } from '../../../src/core/receipt/receipt-proof.js';
import { verifyMmrConsistencyReceipt } from '../../../src/core/verify/verify-consistency.js';
import { readFixture, type TestKeys } from '../cose/read-fixture.js';
import { softwareSigner } from '../cose/software-signer.js';
import { naiveMmr, naivePath, naivePeaks, naiveSize } from '../mmr/naive-mmr.js';
import { leafAt, treeOf } from './sample-tree.js';

const signer = softwareSigner(readFixture<TestKeys>('keys').sealer);
const name = { issuer: 'https://log.example', subject: 'tenant/112758ce-a8cb-4924-8df8-fcba1e31f8b0' };
const trust = { logKeys: [signer.publicKey] };

describe('an MMR consistency receipt', () => {
  async function consistency(from: number, to: number, more: readonly Uint8Array[] = []) {
    const [older, newer] = [treeOf(from), treeOf(to)];
    const at = (index: bigint) => newer.nodes[Number(index)]!;
    const paths = consistencyProofPaths(older.size, newer.size).map((path) => path.map(at));
    const reached = consistentRoots(older.size, older.peaks, paths).length;
    const signed = await peakReceipt(concatBytes(...newer.peaks, ...more), signer, name);
    const claiming = (size: bigint) =>
      attachProof(signed, -2, encodeCbor([older.size, size, paths, [...newer.peaks.slice(reached), ...more]]));
    return { receipt: claiming(newer.size), claiming, older, newer };
  }

  it('leads from the older peaks to the newer ones, whatever the sizes', async () => {
    const sizes = fc
      .tuple(fc.integer({ min: 1, max: 30 }), fc.nat(30))
      .map(([from, more]) => [from, from + more] as const);
    await fc.assert(
      fc.asyncProperty(sizes, async ([from, to]) => {
        const { receipt, older, newer } = await consistency(from, to);
        const verified = await verifyMmrConsistencyReceipt(receipt, older.peaks, trust);
        expect(verified.peaks).toEqual(newer.peaks);
        expect(verified.receipt).toMatchObject({ size1: sizeOfLeaves(BigInt(from)), size2: sizeOfLeaves(BigInt(to)) });
      }),
      { numRuns: 30 },
    );
  });

  it('is refused with more peaks than a log of its size has, though the log signed them', async () => {
    const { receipt, older } = await consistency(5, 9, [leafAt(3)]);
    await expect(verifyMmrConsistencyReceipt(receipt, older.peaks, trust)).rejects.toMatchObject({
      code: 'consistency_invalid',
    });
  });

  it.each<[string, CborValue]>([
    ['a map', new Map([[1, 1]])],
    ['a list of three', encodeCbor([1, 3, []])],
    ['a list whose paths are bytes', encodeCbor([1, 3, leafAt(0), []])],
    ['more paths than a log has peaks', encodeCbor([1, 3, Array.from({ length: 65 }, () => []), []])],
    ['a path of something else than hashes', encodeCbor([1, 3, [[leafAt(0).slice(1)]], []])],
  ])('is malformed with %s as its proof', async (_, proof) => {
    const signed = await peakReceipt(leafAt(0), signer, name);
    expect(() => readMmrConsistencyReceipt(attachProof(signed, -2, proof))).toThrow(
      expect.objectContaining({ code: 'malformed' }),
    );
  });

  it('is refused from other peaks, and from another number of them', async () => {
    const { receipt, older } = await consistency(5, 9);
    const forked = older.peaks.map((_, at) => leafAt(at));
    await expect(verifyMmrConsistencyReceipt(receipt, forked, trust)).rejects.toMatchObject({
      code: expect.stringMatching(/^(consistency_invalid|receipt_signature_invalid)$/),
    });
    await expect(verifyMmrConsistencyReceipt(receipt, older.peaks.slice(1), trust)).rejects.toMatchObject({
      code: 'consistency_invalid',
    });
  });

  it('is refused for every size in which the paths are of another length or the right peaks of another number', async () => {
    const most = 40;
    const naive = naiveMmr(Array.from({ length: 64 }, (_, at) => leafAt(at)));
    const shapeOf = (from: number, to: number) => {
      const [oldSize, size] = [naiveSize(naive, from), naiveSize(naive, to)];
      const proofs = naivePeaks(naive, oldSize).map(({ index }) => naivePath(naive, size, index));
      const right = naivePeaks(naive, size).length - new Set(proofs.map(({ peak }) => peak)).size;
      return [...proofs.map(({ path }) => path.length), right].join();
    };
    const sizes = fc.tuple(fc.integer({ min: 1, max: most }), fc.integer({ min: 1, max: most }));
    await fc.assert(
      fc.asyncProperty(sizes, async (two) => {
        const [from, to] = [Math.min(...two), Math.max(...two)];
        const { claiming, older } = await consistency(from, to);
        for (let other = from; other <= most; other++) {
          const verified = verifyMmrConsistencyReceipt(claiming(sizeOfLeaves(BigInt(other))), older.peaks, trust);
          if (shapeOf(from, other) === shapeOf(from, to)) await verified;
          else await expect(verified).rejects.toMatchObject({ code: 'consistency_invalid' });
        }
      }),
      { numRuns: 30 },
    );
  });

  it('is refused for a far larger size, and for one that no whole number of leaves has', async () => {
    const { claiming, older } = await consistency(1, 2);
    for (const size of [0n, 2n, 5n, 7n, 15n, 2n ** 40n - 1n, 2n ** 64n - 1n])
      await expect(verifyMmrConsistencyReceipt(claiming(size), older.peaks, trust)).rejects.toMatchObject({
        code: 'consistency_invalid',
      });
  });
});
