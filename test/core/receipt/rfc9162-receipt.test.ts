import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromHex, toHex, utf8 } from '../../../src/core/bytes.js';
import { type CborValue, encodeCbor } from '../../../src/core/cose/cbor.js';
import { Header } from '../../../src/core/cose/labels.js';
import { decodeSign1, encodeSign1 } from '../../../src/core/cose/sign1.js';
import { appendLeaves } from '../../../src/core/mmr/append-leaves.js';
import {
  attachRfc9162Consistency,
  attachRfc9162Inclusion,
  readRfc9162ConsistencyReceipt,
  readRfc9162Receipt,
  signRoot,
} from '../../../src/core/receipt/rfc9162-receipt.js';
import { rfc9162InclusionPath } from '../../../src/core/rfc9162/rfc9162-inclusion-path.js';
import { rfc9162Leaf } from '../../../src/core/rfc9162/rfc9162-leaf.js';
import { rfc9162Parent } from '../../../src/core/rfc9162/rfc9162-parent.js';
import { rfc9162Root } from '../../../src/core/rfc9162/rfc9162-root.js';
import { rfc9162RootFromInclusion } from '../../../src/core/rfc9162/rfc9162-root-from-inclusion.js';
import { verifyRfc9162ConsistencyReceipt } from '../../../src/core/verify/verify-consistency.js';
import { verifyRfc9162Receipt } from '../../../src/core/verify/verify-receipt.js';
import { type HexKey, readFixture, type TestKeys } from '../cose/read-fixture.js';
import { repeatableSigner } from '../cose/repeatable-signer.js';
import { softwareSigner } from '../cose/software-signer.js';

interface KnownInclusion {
  readonly kind: 'inclusion';
  readonly tree_size: number;
  readonly leaf_index: number;
  readonly entry_utf8: string;
  readonly path: string[];
  readonly root: string;
  readonly receipt_hex: string;
}

interface KnownConsistency {
  readonly kind: 'consistency';
  readonly size_1: number;
  readonly size_2: number;
  readonly root_1: string;
  readonly root_2: string;
  readonly receipt_hex: string;
}

interface Known {
  readonly key: HexKey;
  readonly thumbprint: string;
  readonly receipts: (KnownInclusion | KnownConsistency)[];
  readonly unsignedKeyExamples: {
    readonly inclusion: { hex: string; path: string[]; leaf_hash_derived: string; root_derived: string };
    readonly consistency: { hex: string; path: string[]; root_2_derived: string };
  };
}

const KNOWN = readFixture<Known>('rfc9162-receipts');
const KEYS = readFixture<TestKeys>('keys');
const known = repeatableSigner(KNOWN.key.d, KNOWN.key.x, KNOWN.key.y);
const knownName = { issuer: 'https://log.example', subject: 'entry' };
const hashes = (list: string[]) => list.map(fromHex);
const inclusions = KNOWN.receipts.filter((receipt) => receipt.kind === 'inclusion');
const inclusionOfAnother = fromHex(inclusions[0]!.receipt_hex);
const consistencies = KNOWN.receipts.filter((receipt) => receipt.kind === 'consistency');

describe('known RFC 9162 receipts', () => {
  const trust = { logKeys: [known.publicKey] };

  it('are named by the thumbprint of their key', () => {
    expect(toHex(known.kid)).toBe(KNOWN.thumbprint);
  });

  it.each(inclusions)('of entry $leaf_index in $tree_size verify, and are made again to the byte', async (vector) => {
    const read = await verifyRfc9162Receipt(fromHex(vector.receipt_hex), utf8(vector.entry_utf8), trust);
    expect(read).toMatchObject({
      ...knownName,
      treeSize: BigInt(vector.tree_size),
      leafIndex: BigInt(vector.leaf_index),
      path: hashes(vector.path),
    });
    const made = attachRfc9162Inclusion(
      decodeSign1(fromHex(vector.receipt_hex)),
      read.treeSize,
      read.leafIndex,
      hashes(vector.path),
    );
    expect(toHex(made)).toBe(vector.receipt_hex);
  });

  it.each(consistencies)('of consistency $size_1–$size_2 verify, and are made again to the byte', async (vector) => {
    const [root1, root2] = [fromHex(vector.root_1), fromHex(vector.root_2)];
    const read = await verifyRfc9162ConsistencyReceipt(fromHex(vector.receipt_hex), root1, root2, trust);
    const signed = decodeSign1(fromHex(vector.receipt_hex));
    expect(toHex(attachRfc9162Consistency(signed, read.size1, read.size2, read.path))).toBe(vector.receipt_hex);
    await expect(
      verifyRfc9162ConsistencyReceipt(fromHex(vector.receipt_hex), root2, root2, trust),
    ).rejects.toMatchObject({ code: 'consistency_invalid' });
  });

  it('of the working group, whose key is not public, are read and lead to one root', () => {
    const { inclusion, consistency } = KNOWN.unsignedKeyExamples;
    const read = readRfc9162Receipt(fromHex(inclusion.hex));
    expect(read).toMatchObject({ treeSize: 5n, leafIndex: 3n, path: hashes(inclusion.path) });
    const leaf = fromHex(inclusion.leaf_hash_derived);
    const root = rfc9162RootFromInclusion(leaf, read.leafIndex, read.treeSize, read.path);
    expect(toHex(root)).toBe(inclusion.root_derived);
    expect(readRfc9162ConsistencyReceipt(fromHex(consistency.hex))).toMatchObject({
      size1: 3n,
      size2: 5n,
      path: hashes(consistency.path),
    });
    expect(consistency.root_2_derived).toBe(inclusion.root_derived);
  });
});

describe('an RFC 9162 receipt', () => {
  const signer = softwareSigner(KEYS.statementLog);
  const name = { issuer: 'https://log.example', subject: 'statements/public' };
  const trust = { logKeys: [signer.publicKey] };

  async function receiptOf(count: number, index: number, log = name) {
    const entries = Array.from({ length: count }, (_, at) => utf8(`entry ${at}`));
    const { nodes, peaks } = appendLeaves(rfc9162Parent, 0n, [], entries.map(rfc9162Leaf));
    const signed = await signRoot(rfc9162Root(peaks), BigInt(count), signer, log);
    const path = rfc9162InclusionPath(BigInt(index), BigInt(count), (node) => nodes[Number(node)]!);
    return { receipt: attachRfc9162Inclusion(signed, BigInt(count), BigInt(index), path), entries };
  }

  it('verifies for its own entry and for no other, whatever the tree', async () => {
    const tree = fc.integer({ min: 1, max: 40 }).chain((count) => fc.tuple(fc.constant(count), fc.nat(count - 1)));
    await fc.assert(
      fc.asyncProperty(tree, async ([count, index]) => {
        const { receipt, entries } = await receiptOf(count, index);
        await expect(verifyRfc9162Receipt(receipt, entries[index]!, trust)).resolves.toMatchObject(name);
        await expect(verifyRfc9162Receipt(receipt, utf8('another'), trust)).rejects.toMatchObject({
          code: 'receipt_signature_invalid',
        });
      }),
      { numRuns: 40 },
    );
  });

  it('names the log and its size, and neither entry nor file, in what is signed', async () => {
    const [first, second, third] = await Promise.all([receiptOf(9, 0), receiptOf(9, 4), receiptOf(8, 0)]);
    expect(decodeSign1(first.receipt).protectedBytes).toEqual(decodeSign1(second.receipt).protectedBytes);
    expect(decodeSign1(first.receipt).protectedBytes).not.toEqual(decodeSign1(third.receipt).protectedBytes);
    const header = decodeSign1(inclusionOfAnother).protectedHeader;
    const ours = [...decodeSign1(first.receipt).protectedHeader.keys()].filter((label) => label !== Header.treeSize);
    expect(ours.sort()).toEqual([...header.keys()].sort());
  });

  it('is refused under any other size and place that its path would fit', async () => {
    for (let count = 1; count <= 12; count += 1)
      for (let index = 0; index < count; index += 1) {
        const { receipt, entries } = await receiptOf(count, index);
        const { path } = readRfc9162Receipt(receipt);
        for (let size = 1; size <= 16; size += 1)
          for (let place = 0; place < size; place += 1) {
            if (size === count && place === index) continue;
            const other = attachRfc9162Inclusion(decodeSign1(receipt), BigInt(size), BigInt(place), path);
            await expect(verifyRfc9162Receipt(other, entries[index]!, trust)).rejects.toThrow();
          }
      }
  });

  it('of another log under the same key is refused when the log is pinned', async () => {
    for (const other of [{ subject: 'statements/private' }, { issuer: 'https://another.example' }]) {
      const { receipt, entries } = await receiptOf(3, 0, { ...name, ...other });
      await expect(verifyRfc9162Receipt(receipt, entries[0]!, { ...trust, log: name })).rejects.toMatchObject({
        code: 'log_mismatch',
      });
    }
  });

  const proof = (...members: CborValue[]) => new Map([[396, new Map([[-1, members]])]]);
  const hash = new Uint8Array(32);
  it.each<[string, string, CborValue]>([
    ['no proof', 'malformed', new Map([[396, new Map()]])],
    ['an empty list of proofs', 'malformed', proof()],
    ['proofs that are no map', 'malformed', new Map([[396, [1]]])],
    ['a proof that is no byte string', 'malformed', proof([1, 0, []])],
    ['a proof of two members', 'malformed', proof(encodeCbor([1, 0]))],
    ['a negative index', 'malformed', proof(encodeCbor([1, -1, []]))],
    ['an index that is text', 'malformed', proof(encodeCbor([1, '0', []]))],
    ['a path that is no list', 'malformed', proof(encodeCbor([1, 0, hash]))],
    ['a hash of 31 bytes', 'malformed', proof(encodeCbor([2, 0, [hash.subarray(1)]]))],
    ['a path of 65 hashes', 'malformed', proof(encodeCbor([2, 0, Array(65).fill(hash)]))],
    ['a proof with bytes after it', 'malformed', proof(Uint8Array.of(0x83, 1, 0, 0x80, 0))],
    ['two proofs', 'unsupported', proof(encodeCbor([1, 0, []]), encodeCbor([1, 0, []]))],
    ['an index beyond the tree', 'inclusion_path_invalid', proof(encodeCbor([1, 1, []]))],
    ['a path too short', 'inclusion_path_invalid', proof(encodeCbor([4, 1, [hash]]))],
    ['a path too long', 'inclusion_path_invalid', proof(encodeCbor([1, 0, [hash]]))],
    ['a tree of 2^64−1 entries and no path', 'inclusion_path_invalid', proof(encodeCbor([2n ** 64n - 1n, 7, []]))],
  ])('is refused with %s', async (_, code, unprotectedHeader) => {
    const { receipt, entries } = await receiptOf(1, 0);
    const wire = encodeSign1({ ...decodeSign1(receipt), unprotectedHeader: unprotectedHeader as never });
    await expect(verifyRfc9162Receipt(wire, entries[0]!, trust)).rejects.toMatchObject({ code });
  });

  it('is refused with an attached payload', async () => {
    const { receipt, entries } = await receiptOf(1, 0);
    const attached = encodeSign1({ ...decodeSign1(receipt), payload: rfc9162Leaf(entries[0]!) });
    await expect(verifyRfc9162Receipt(attached, entries[0]!, trust)).rejects.toMatchObject({ code: 'malformed' });
  });
});
