import { createHash, createPublicKey } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { concatBytes, fromHex, toBase64Url, toHex, utf8 } from '../../src/core/bytes.js';
import { HashAlgorithm } from '../../src/core/cose/algorithms.js';
import { signatureInput } from '../../src/core/cose/sign1.js';
import { assetEventLeaf } from '../../src/core/event/asset-event-leaf.js';
import type { V3Event } from '../../src/core/event/v3-event.js';
import { idtimestampMs, parseIdtimestampHex } from '../../src/core/massif/idtimestamp.js';
import { readMassif } from '../../src/core/massif/read-massif.js';
import { trieKey } from '../../src/core/massif/trie-entry.js';
import { includedRoot } from '../../src/core/mmr/included-root.js';
import { inclusionProofPath } from '../../src/core/mmr/inclusion-proof-path.js';
import { leafIndex } from '../../src/core/mmr/leaf-count.js';
import { readMmrReceipt } from '../../src/core/receipt/mmr-receipt.js';
import { readSeal } from '../../src/core/receipt/seal.js';
import { rfc9162Leaf } from '../../src/core/rfc9162/rfc9162-leaf.js';
import { hashesAtLevel, TILE_WIDTH, tilePath } from '../../src/core/tlog/tile.js';
import { verifySeal } from '../../src/core/verify/verify-seal.js';
import { haveSharedVectors, sharedVectors } from '../core/mmr/shared-vectors.js';

const run = describe.skipIf(!haveSharedVectors());
const hashes = (list: readonly string[]) => list.map(fromHex);

interface SealVector {
  readonly curve: string;
  readonly style: string;
  readonly size: number;
  readonly x: string;
  readonly y: string;
  readonly spki_der_base64: string;
  readonly protected_hex: string;
  readonly signed_payload_hex: string;
  readonly sig_structure_sha256: string;
  readonly sth_hex: string;
}

run('seal-checkpoint', () => {
  const { seals_DERIVED, real_seal } = haveSharedVectors()
    ? sharedVectors<{
        seals_DERIVED: { vectors: SealVector[] };
        real_seal: { hex: string; peak_receipt_protected_decoded: { 1: number } };
      }>('seal-checkpoint')
    : { seals_DERIVED: { vectors: [] }, real_seal: undefined };
  const { nodes } = haveSharedVectors() ? sharedVectors<{ nodes: string[] }>('mmr-kat39') : { nodes: [] };
  const peaks: Readonly<Record<number, readonly number[]>> = { 11: [6, 9, 10], 39: [30, 37, 38] };

  it.each(seals_DERIVED.vectors)('$curve $style of size $size seals the known tree', async (vector) => {
    const [x, y] = [vector.x, vector.y].map((hex) => toBase64Url(fromHex(hex))) as [string, string];
    const key = { kty: 'EC', crv: vector.curve as 'P-256' | 'P-384', x, y } as const;
    const tree = hashes(peaks[vector.size]!.map((index) => nodes[index]!));
    const seal = await verifySeal(fromHex(vector.sth_hex), tree, { logKeys: [key] });
    expect(toHex(seal.sign1.protectedBytes)).toBe(vector.protected_hex);
    const input = signatureInput(seal.sign1.protectedBytes, fromHex(vector.signed_payload_hex));
    expect(createHash('sha256').update(input).digest('hex')).toBe(vector.sig_structure_sha256);
    const spki = createPublicKey({ key, format: 'jwk' }).export({ type: 'spki', format: 'der' });
    expect(spki.toString('base64')).toBe(vector.spki_der_base64);
  });

  it('the real seal has one signed peak, whose receipt is of this structure', () => {
    const { peakReceipts } = readSeal(fromHex(real_seal!.hex));
    expect(peakReceipts).toHaveLength(1);
    // A signed peak has no proof yet.
    expect(() => readMmrReceipt(peakReceipts[0]!)).toThrow(expect.objectContaining({ code: 'malformed' }));
  });
});

run('receipts-mmriver', () => {
  it('each derived receipt is of a leaf and a path that lead to the published peak', () => {
    const { derived } = sharedVectors<{
      derived: { index: number; leaf: string; path: string[]; detached_payload_peak: string }[];
    }>('receipts-mmriver');
    for (const { index, leaf, path, detached_payload_peak } of derived)
      expect(toHex(includedRoot(BigInt(index), fromHex(leaf), hashes(path)))).toBe(detached_payload_peak);
  });
});

run('v3-event-hash', () => {
  it('two events of one public log lead to one peak', () => {
    interface Included {
      readonly index: number;
      readonly leaf: string;
      readonly path: string[];
    }
    const { path_cross_check: check } = sharedVectors<{
      path_cross_check: { a: Included; b: Included & { leaf_index: number }; peak: string };
    }>('v3-event-hash');
    for (const { index, leaf, path } of [check.a, check.b])
      expect(toHex(includedRoot(BigInt(index), fromHex(leaf), hashes(path)))).toBe(check.peak);
    expect(leafIndex(BigInt(check.b.index))).toBe(BigInt(check.b.leaf_index));
  });

  it('the tampered event is not the leaf that it claims to be', () => {
    const { events } = sharedVectors<{
      events: { event: V3Event; idtimestamp: string; must_not_equal_leaf?: string }[];
    }>('v3-event-hash');
    const tampered = events.filter(({ must_not_equal_leaf }) => must_not_equal_leaf !== undefined);
    expect(tampered).toHaveLength(1);
    for (const { event, idtimestamp, must_not_equal_leaf } of tampered)
      expect(toHex(assetEventLeaf(event, parseIdtimestampHex(idtimestamp).id))).not.toBe(must_not_equal_leaf);
  });
});

run('eventsv1', () => {
  it('the event of the documentation leads to the peak computed from its published path', () => {
    const { events } = sharedVectors<{
      events: { mmr_index: number; leaf: string; inclusion_path?: string[]; computed_peak?: string }[];
    }>('eventsv1');
    const published = events.filter(({ inclusion_path }) => inclusion_path !== undefined);
    expect(published).toHaveLength(1);
    for (const { mmr_index, leaf, inclusion_path, computed_peak } of published)
      expect(toHex(includedRoot(BigInt(mmr_index), fromHex(leaf), hashes(inclusion_path!)))).toBe(computed_peak);
  });
});

run('hash-envelope', () => {
  it('each hash algorithm that we write or read has the registered number', () => {
    const { hash_alg_ids: numbers } = sharedVectors<{ hash_alg_ids: Record<string, number> }>('hash-envelope');
    expect(numbers).toMatchObject({
      'SHA-256': HashAlgorithm.sha256,
      'SHA-384': HashAlgorithm.sha384,
      'SHA-512': HashAlgorithm.sha512,
    });
  });
});

run('idtimestamp', () => {
  it('epochs begin when they should', () => {
    const { epoch1_start_unix_ms: first, epoch2_start_unix_ms: second } =
      sharedVectors<Record<string, number>>('idtimestamp');
    expect([idtimestampMs(0n, 1), idtimestampMs(0n, 2)]).toEqual([first, second]);
  });
});

run('cli-jag-log-h3', () => {
  const vector = haveSharedVectors()
    ? sharedVectors<{
        tenant: string;
        files: { hex: string }[];
        events_json: { events: (V3Event & { merklelog_entry: { commit: { index: string; idtimestamp: string } } })[] };
        expected: { massif: number; range_count: number; mmr_index: number; leaf_index: number; info_line: string }[];
        expected_find_trie: Record<string, string>;
        expected_node: { index: number; hex: string }[];
      }>('cli-jag-log-h3')
    : undefined;
  const massifs = vector?.files.map(({ hex }) => readMassif(fromHex(hex))) ?? [];

  it('every event has the line that the stock verifier prints', () => {
    const lines = vector!.expected.map(({ massif, range_count, mmr_index }) => {
      const file = massifs[massif]!;
      expect(file.size).toBe(BigInt(range_count));
      const index = BigInt(mmr_index);
      const event = vector!.events_json.events.find(
        ({ merklelog_entry: { commit } }) => BigInt(commit.index) === index,
      )!;
      const leaf = leafIndex(index);
      const { idtimestamp } = file.entries[Number(leaf - file.firstLeaf)]!;
      const path = inclusionProofPath(file.size, index).map(file.nodeAt);
      const included = toHex(assetEventLeaf(event, idtimestamp)) === toHex(file.nodeAt(index));
      return `${included ? 'OK' : 'XX'}|${index} ${leaf}|[${path.map(toHex).join(', ')}]`;
    });
    expect(lines).toEqual(vector!.expected.map(({ info_line }) => info_line));
  });

  it('every node is where the stock tool finds it', () => {
    for (const { index, hex } of vector!.expected_node) {
      const file = massifs.find(({ firstNode, size }) => BigInt(index) >= firstNode && BigInt(index) < size)!;
      expect(toHex(file.nodeAt(BigInt(index)))).toBe(hex);
    }
  });

  it('the trie finds an event by its identity', () => {
    const identity = vector!.expected_find_trie['index_3']!;
    const key = toHex(trieKey(utf8(vector!.tenant), identity));
    const found = massifs.flatMap(({ entries, firstLeaf }) =>
      entries.flatMap((entry, place) => (toHex(entry.key) === key ? [firstLeaf + BigInt(place)] : [])),
    );
    expect(
      found.map((leaf) => vector!.expected.find(({ leaf_index }) => BigInt(leaf_index) === leaf)!.mmr_index),
    ).toEqual([3]);
  });
});

run('rfc9162 and c2sp', () => {
  it('a log of each size has the tiles that the specification counts', () => {
    const { tiles_for_size } = sharedVectors<{ tiles_for_size: Record<string, { level: number }[]> }>('c2sp');
    const { source: _, ...sizes } = tiles_for_size;
    expect(Object.keys(sizes)).toHaveLength(4);
    for (const [name, tiles] of Object.entries(sizes)) {
      const size = BigInt(name.replace('size_', ''));
      const levels = Array.from({ length: 5 }, (_, level) => Number(hashesAtLevel(size, level)));
      const counted = levels.map((hashes, level) => ({
        level,
        full: Math.floor(hashes / TILE_WIDTH),
        partial: hashes % TILE_WIDTH,
      }));
      expect(counted.filter(({ full, partial }) => full + partial > 0)).toEqual(tiles);
    }
  });

  it('the bundle and the tile of 15 entries are ours, byte for byte', () => {
    const { entries_utf8, entry_bundle_hex, leaf_hashes } = sharedVectors<{
      entries_utf8: string[];
      entry_bundle_hex: string;
      leaf_hashes: string[];
    }>('rfc9162');
    const { tile_bytes } = sharedVectors<{ tile_bytes: Record<string, string> }>('c2sp');
    const entries = entries_utf8.map(utf8);
    const bundle = concatBytes(...entries.flatMap((entry) => [Uint8Array.of(0, entry.length), entry]));
    expect(toHex(bundle)).toBe(entry_bundle_hex);
    const leaves = entries.map(rfc9162Leaf);
    expect(leaves.map(toHex)).toEqual(leaf_hashes);
    const { source: _, ...tiles } = tile_bytes;
    expect(tiles).toEqual({
      [`tile/${tilePath({ level: 0, index: 0n, width: 15 })}`]: toHex(concatBytes(...leaves)),
      [`tile/${tilePath({ level: 'entries', index: 0n, width: 15 })}`]: entry_bundle_hex,
    });
  });
});
