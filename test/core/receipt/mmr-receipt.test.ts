import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { concatBytes, fromHex, toBase64Url, toHex } from '../../../src/core/bytes.js';
import { type CborValue, encodeCbor } from '../../../src/core/cose/cbor.js';
import { jwkFromCoseKey, keyThumbprint } from '../../../src/core/cose/cose-key.js';
import { decodeSign1, encodeSign1, signatureInput } from '../../../src/core/cose/sign1.js';
import { webCryptoVerify } from '../../../src/core/cose/web-crypto-verify.js';
import { includedRoot } from '../../../src/core/mmr/included-root.js';
import { inclusionProofPath } from '../../../src/core/mmr/inclusion-proof-path.js';
import { mmrIndex } from '../../../src/core/mmr/leaf-count.js';
import {
  attachInclusion,
  mmrReceiptInForm,
  peakReceipt,
  readMmrConsistencyProof,
  readMmrReceipt,
} from '../../../src/core/receipt/mmr-receipt.js';
import { attachProof } from '../../../src/core/receipt/receipt-proof.js';
import { mmrConsistencyPeaks } from '../../../src/core/verify/verify-consistency.js';
import { verifyMmrReceipt } from '../../../src/core/verify/verify-receipt.js';
import { type HexKey, readFixture, type TestKeys } from '../cose/read-fixture.js';
import { softwareSigner } from '../cose/software-signer.js';
import { leafAt, treeOf } from './sample-tree.js';

interface KnownReceipt {
  readonly curve: string;
  readonly style: string;
  readonly size: number;
  readonly index: number;
  readonly leaf: string;
  readonly path: string[];
  readonly presigned_hex: string;
  readonly receipt_go_shape_hex: string;
  readonly receipt_go_shape_empty_list_hex: string | null;
  readonly receipt_draft_shape_hex: string;
}

interface KnownConsistency {
  readonly size_a: number;
  readonly size_b: number;
  readonly accumulator_b: string[];
  readonly message_hex: string;
}

interface Known {
  readonly keys: Record<string, HexKey>;
  readonly receipts: KnownReceipt[];
  readonly untaggedInclusion: { hex: string; public_key_xy: string; index: number; leaf: string; peak: string };
  readonly untaggedConsistency: { public_key_xy: string; receipts: KnownConsistency[] };
}

const KNOWN = readFixture<Known>('mmr-receipts');
const KEYS = readFixture<TestKeys>('keys');
const hashes = (list: string[]) => list.map(fromHex);

function ecKey(crv: 'P-256' | 'P-384', xHex: string, yHex: string, kid?: string) {
  const [x, y] = [xHex, yHex].map((hex) => toBase64Url(fromHex(hex))) as [string, string];
  return { kty: 'EC', crv, x, y, ...(kid === undefined ? {} : { kid }) } as const;
}

const logKeys = Object.values(KNOWN.keys).map(({ crv, x, y, kid }) => ecKey(crv, x, y, kid));

describe('known MMR receipts', () => {
  const shapes = ['receipt_go_shape_hex', 'receipt_go_shape_empty_list_hex', 'receipt_draft_shape_hex'] as const;
  const cases = KNOWN.receipts.flatMap((vector) =>
    shapes.flatMap((shape) => {
      const wire = vector[shape];
      return wire === null ? [] : [{ ...vector, shape, wire }];
    }),
  );

  it.each(cases)(
    '$curve $style, size $size, node $index, $shape verify',
    async ({ wire, leaf, index, path, shape }) => {
      const read = await verifyMmrReceipt(fromHex(wire), fromHex(leaf), { logKeys, mmrIndex: BigInt(index) });
      expect(read).toMatchObject({
        index: BigInt(index),
        path: hashes(path),
        form: shape === 'receipt_draft_shape_hex' ? 'draft' : 'map',
        issuer: 'https://log.example/sealer',
      });
    },
  );

  it.each(KNOWN.receipts)(
    '$curve $style, size $size, node $index are made to the byte from the signed peak',
    (vector) => {
      const [signed, path] = [fromHex(vector.presigned_hex), hashes(vector.path)];
      const map = attachInclusion(signed, BigInt(vector.index), path, 'map');
      const draft = attachInclusion(signed, BigInt(vector.index), path, 'draft');
      expect(toHex(map)).toBe(vector.receipt_go_shape_empty_list_hex ?? vector.receipt_go_shape_hex);
      expect(toHex(draft)).toBe(vector.receipt_draft_shape_hex);
      expect(toHex(mmrReceiptInForm(map, 'draft'))).toBe(vector.receipt_draft_shape_hex);
    },
  );

  it('verify as long as the signature is checked without our envelope rules, where they carry no kid and no tag', async () => {
    const { hex, public_key_xy: xy, index, leaf, peak } = KNOWN.untaggedInclusion;
    expect(() => readMmrReceipt(fromHex(hex))).toThrow(expect.objectContaining({ code: 'malformed' }));
    const sign1 = decodeSign1(concatBytes(Uint8Array.of(0xd2), fromHex(hex)));
    const proof = (sign1.unprotectedHeader.get(396) as Map<number, CborValue[]>).get(-1)![0] as Map<
      number,
      Uint8Array[]
    >;
    const root = includedRoot(BigInt(index), fromHex(leaf), proof.get(2)!);
    expect(toHex(root)).toBe(peak);
    const key = ecKey('P-256', xy.slice(0, 64), xy.slice(64));
    const message = signatureInput(sign1.protectedBytes, root);
    await expect(webCryptoVerify(key, -7, message, sign1.signature)).resolves.toBe(true);
  });

  it.each(KNOWN.untaggedConsistency.receipts)(
    'of consistency $size_a–$size_b lead to the signed peaks',
    async (vector) => {
      const sign1 = decodeSign1(concatBytes(Uint8Array.of(0xd2), fromHex(vector.message_hex)));
      const proof = readMmrConsistencyProof(sign1);
      expect(proof).toMatchObject({ size1: BigInt(vector.size_a), size2: BigInt(vector.size_b) });
      const before = KNOWN.untaggedConsistency.receipts.find(({ size_b }) => size_b === vector.size_a)?.accumulator_b;
      const peaks = mmrConsistencyPeaks(proof, hashes(before ?? []));
      expect(peaks.map(toHex)).toEqual(vector.accumulator_b);
      const xy = KNOWN.untaggedConsistency.public_key_xy;
      const message = signatureInput(sign1.protectedBytes, concatBytes(...peaks));
      const key = ecKey('P-256', xy.slice(0, 64), xy.slice(64));
      await expect(webCryptoVerify(key, -7, message, sign1.signature)).resolves.toBe(true);
    },
  );
});

const signer = softwareSigner(KEYS.sealer);
const name = { issuer: 'https://log.example', subject: 'tenant/112758ce-a8cb-4924-8df8-fcba1e31f8b0' };
const trust = { logKeys: [signer.publicKey] };
/** Receipt of one leaf from a tree of so many. */
async function receiptOf(leaves: number, leaf: number, form: 'map' | 'draft' = 'draft') {
  const { nodes, size } = treeOf(leaves);
  const index = mmrIndex(BigInt(leaf));
  const path = inclusionProofPath(size, index).map((node) => nodes[Number(node)]!);
  const signed = await peakReceipt(includedRoot(index, leafAt(leaf), path), signer, name);
  return { receipt: attachInclusion(signed, index, path, form), index, path, signed };
}

describe('an MMR receipt', () => {
  it('verifies for its own leaf at its own index and for no other, whatever the tree and the form', async () => {
    const tree = fc.integer({ min: 1, max: 40 }).chain((leaves) => fc.tuple(fc.constant(leaves), fc.nat(leaves - 1)));
    await fc.assert(
      fc.asyncProperty(tree, fc.constantFrom('map' as const, 'draft' as const), async ([leaves, leaf], form) => {
        const { receipt, index } = await receiptOf(leaves, leaf, form);
        await expect(verifyMmrReceipt(receipt, leafAt(leaf), { ...trust, mmrIndex: index })).resolves.toMatchObject({
          ...name,
          index,
          form,
        });
        await expect(verifyMmrReceipt(receipt, leafAt(99), trust)).rejects.toMatchObject({
          code: 'receipt_signature_invalid',
        });
        await expect(verifyMmrReceipt(receipt, leafAt(leaf), { ...trust, mmrIndex: index + 1n })).rejects.toMatchObject(
          {
            code: 'inclusion_path_invalid',
          },
        );
      }),
      { numRuns: 40 },
    );
  });

  it('claims its log and its key under both labels, for clients of either draft', async () => {
    const header = decodeSign1((await receiptOf(3, 0)).receipt).protectedHeader;
    expect(header.get(13)).toEqual(header.get(15));
    const claims = header.get(15) as Map<number, Map<number, Map<number, CborValue>>>;
    const claimed = claims.get(8)!.get(1)!;
    expect(keyThumbprint(jwkFromCoseKey(claimed))).toEqual(signer.kid);
    expect([claimed.get(1), claimed.get(-1), typeof claimed.get(2)]).toEqual([2, 1, 'string']);
    expect([...header.keys()]).toEqual([1, 4, 13, 15, 395]);
  });

  it('is never accepted for the key that it carries', async () => {
    const stranger = softwareSigner(KEYS.stranger);
    const { receipt } = await receiptOf(3, 0);
    await expect(verifyMmrReceipt(receipt, leafAt(0), { logKeys: [stranger.publicKey] })).rejects.toMatchObject({
      code: 'log_key_not_trusted',
    });
  });

  it('at another index, with the path of a leaf, does not verify', async () => {
    const { path, signed } = await receiptOf(8, 2);
    const moved = attachInclusion(signed, mmrIndex(3n), path, 'draft');
    await expect(verifyMmrReceipt(moved, leafAt(2), trust)).rejects.toMatchObject({
      code: 'receipt_signature_invalid',
    });
  });

  const hash = new Uint8Array(32);
  const map = (...members: [number, CborValue][]) => new Map(members);
  it.each<[string, string, CborValue]>([
    ['an interior node', 'inclusion_path_invalid', map([1, 2], [2, []])],
    ['an index beyond 2^63', 'inclusion_path_invalid', map([1, 2n ** 64n - 2n], [2, []])],
    ['no index', 'malformed', map([2, []])],
    ['no path', 'malformed', map([1, 0])],
    ['a path of text', 'malformed', map([1, 0], [2, ['x']])],
    ['a hash of 33 bytes', 'malformed', encodeCbor([0, [new Uint8Array(33)]])],
    ['65 hashes', 'malformed', encodeCbor([0, Array(65).fill(hash)])],
    ['the proof of another structure', 'malformed', encodeCbor([1, 0, []])],
    ['a list for a proof', 'malformed', [0, []]],
  ])('is refused with %s', async (_, code, proof) => {
    const { signed } = await receiptOf(1, 0);
    await expect(verifyMmrReceipt(attachProof(signed, -1, proof), leafAt(0), trust)).rejects.toMatchObject({ code });
  });

  it.each<[string, CborValue]>([
    ['malformed', 1],
    ['unsupported', 2],
    ['unsupported', 'MMR'],
  ])('is %s when its structure is %s', async (code, structure) => {
    const protectedHeader = decodeSign1((await receiptOf(1, 0)).receipt).protectedHeader.set(395, structure);
    const wire = encodeSign1({
      protectedBytes: encodeCbor(protectedHeader),
      unprotectedHeader: new Map(),
      payload: null,
      signature: new Uint8Array(64),
    });
    await expect(verifyMmrReceipt(wire, leafAt(0), trust)).rejects.toMatchObject({ code });
  });
});
