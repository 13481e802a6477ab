import { describe, expect, it } from 'vitest';
import { fromHex, toHex, utf8 } from '../../../src/core/bytes.js';
import { firstIndexTag, massifPath, parseBlobPath, sealPath } from '../../../src/core/massif/blob-paths.js';
import {
  idtimestampAt,
  idtimestampHex,
  idtimestampMs,
  nextIdtimestamp,
  parseIdtimestampHex,
} from '../../../src/core/massif/idtimestamp.js';
import { firstLeaf, firstNode, fullNodeCount, nodeStart, stackStart } from '../../../src/core/massif/massif-layout.js';
import { decodeMassifStart, encodeMassifStart } from '../../../src/core/massif/massif-start.js';
import { peakStackIndices } from '../../../src/core/massif/peak-stack.js';
import { readMassif } from '../../../src/core/massif/read-massif.js';
import { decodeTrieEntry, encodeTrieEntry, trieKey } from '../../../src/core/massif/trie-entry.js';
import { sha256 } from '../../../src/core/sha256.js';
import { recomputeMassif } from '../../../src/core/verify/verify-massif.js';
import { haveSharedVectors, sharedVectors } from '../mmr/shared-vectors.js';
import { knownLog, massifOf, sampleLog } from './sample-log.js';

interface OffsetRow {
  height: number;
  massif: number;
  stack_start: number;
  node_start: number;
  first_leaf: number;
  first_node: number;
  last_node: number;
  peak_stack: number[];
  full_size: number;
}

describe.skipIf(!haveSharedVectors())('shared massif vectors', () => {
  it('massif-header: every record of version 0, and the real file prefix', () => {
    const vector = sharedVectors<{
      headers: {
        hex: string;
        last_id_hex: string;
        version: number;
        epoch: number;
        height: number;
        massif_index: number;
      }[];
      first_leaf_mmr_index: { cases: { height: number; massif: number; first: number }[] };
      real_massif_prefix: { fields_hex: string[] };
    }>('massif-header');
    for (const row of vector.headers) {
      if (row.version !== 0) {
        expect(() => decodeMassifStart(fromHex(row.hex))).toThrow();
        continue;
      }
      const start = decodeMassifStart(fromHex(row.hex));
      const { epoch, height, massif_index: index } = row;
      expect(start).toEqual({ lastIdtimestamp: BigInt(`0x${row.last_id_hex}`), epoch, height, index });
      expect(toHex(encodeMassifStart(start))).toBe(row.hex);
    }
    for (const row of vector.first_leaf_mmr_index.cases)
      expect(Number(firstNode(row.height, row.massif))).toBe(row.first);
    const prefix = fromHex(vector.real_massif_prefix.fields_hex.join(''));
    expect(decodeMassifStart(prefix)).toMatchObject({ height: 14, index: 0, epoch: 1 });
    expect(idtimestampMs(decodeTrieEntry(prefix, 288).idtimestamp)).toBe(1723506411569);
  });

  it('massif-offsets: every row', () => {
    const vector = sharedVectors<{
      height_2: OffsetRow[];
      height_14: OffsetRow[];
      derived_other_heights: OffsetRow[];
      derived_large: Omit<OffsetRow, 'peak_stack'>[];
      peak_stack_map: { cases: { first_or_last_index: number; peak_stack: number[] }[] };
      stack_evolution_h2: { stacks: number[][] };
      stack_len: { cases: Record<string, number> };
      massif_entry_count: { trie_entries_allocated: Record<string, number> };
    }>('massif-offsets');
    const rows = [
      ...vector.height_2.map((row) => ({ ...row, height: 2 })),
      ...vector.height_14.map((row) => ({ ...row, height: 14 })),
      ...vector.derived_other_heights,
    ];
    for (const row of rows) {
      expect(stackStart(row.height)).toBe(row.stack_start);
      expect(peakStackIndices(row.height, row.massif).map(Number)).toEqual(row.peak_stack);
      expect(nodeStart(row.height, row.massif) + 32 * fullNodeCount(row.height, row.massif)).toBe(row.full_size);
    }
    for (const row of [...rows, ...vector.derived_large]) {
      expect(nodeStart(row.height, row.massif)).toBe(row.node_start);
      expect(Number(firstLeaf(row.height, row.massif))).toBe(row.first_leaf);
      expect(Number(firstNode(row.height, row.massif))).toBe(row.first_node);
      expect(row.first_node + fullNodeCount(row.height, row.massif) - 1).toBe(row.last_node);
    }
    vector.stack_evolution_h2.stacks.forEach((stack, massif) => {
      expect(peakStackIndices(2, massif + 1).map(Number)).toEqual(stack);
    });
    for (const [massif, length] of Object.entries(vector.stack_len.cases))
      expect(peakStackIndices(14, Number(massif)).length).toBe(length);
  });

  it('massif-offsets: trie entries', () => {
    const { trie_entry_offset } = sharedVectors<{
      trie_entry_offset: { cases: { id_hex?: string; index_start: number; stored_extra?: string; offset?: number }[] };
    }>('massif-offsets');
    for (const row of trie_entry_offset.cases) {
      if (!row.id_hex || row.offset === undefined) continue;
      const bytes = new Uint8Array(row.offset + 64);
      const entry = {
        key: sha256(utf8('key')),
        extraBytes: fromHex(row.stored_extra!),
        idtimestamp: BigInt(`0x${row.id_hex}`),
      };
      bytes.set(encodeTrieEntry(entry), row.offset);
      expect(decodeTrieEntry(bytes, row.offset)).toEqual(entry);
    }
  });

  it('massif-blob-h3: both files read, hold their nodes and verify', () => {
    const vector = sharedVectors<{
      blob_hex: string;
      nodes: string[];
      tags_in_test: { firstindex: string; lastid: string };
      variant_epoch1: { blob_hex: string; tags: { firstindex: string; lastid: string } };
    }>('massif-blob-h3');
    const blobs = [
      { hex: vector.blob_hex, tags: vector.tags_in_test },
      { hex: vector.variant_epoch1.blob_hex, tags: vector.variant_epoch1.tags },
    ];
    for (const { hex, tags } of blobs) {
      const massif = recomputeMassif(fromHex(hex));
      expect(massif.size).toBe(3n);
      expect(vector.nodes.map((_, index) => toHex(massif.nodeAt(BigInt(index))))).toEqual(vector.nodes);
      expect(firstIndexTag(massif.firstNode)).toBe(tags.firstindex);
      expect(idtimestampHex(massif.lastIdtimestamp, massif.epoch)).toBe(tags.lastid);
    }
  });

  it('massif-files-kat39: every file is built, read and verified', () => {
    const { logs } = sharedVectors<{
      logs: Record<string, { massif: number; sha256: string; hex?: string; end_size: number; peak_stack: number[] }[]>;
    }>('massif-files-kat39');
    const log = knownLog();
    for (const [name, rows] of Object.entries(logs)) {
      for (const row of rows) {
        const bytes = massifOf(log, Number(name.slice('height_'.length)), row.massif);
        expect(toHex(sha256(bytes))).toBe(row.sha256);
        if (row.hex) expect(toHex(bytes)).toBe(row.hex);
        expect(Number(recomputeMassif(bytes).size)).toBe(row.end_size);
        expect(readMassif(bytes).peakStack).toEqual(row.peak_stack.map((index) => log.nodes[index]));
      }
    }
  });

  it('massif-h14-digests: every file is built', () => {
    const vector = sharedVectors<{
      tenant: string;
      leaf_count: number;
      peaks: string[];
      files: { massif: number; size: number; sha256: string; header_hex: string; peak_stack_hex: string[] }[];
    }>('massif-h14-digests');
    const log = sampleLog(vector.tenant, vector.leaf_count, (leaf) => `events-${leaf}`);
    const built = vector.files.map((row) => massifOf(log, 14, row.massif));
    for (const [place, row] of vector.files.entries()) {
      expect(built[place]!.length).toBe(row.size);
      expect(toHex(sha256(built[place]!))).toBe(row.sha256);
      expect(toHex(built[place]!.subarray(0, 32))).toBe(row.header_hex);
      expect(readMassif(built[place]!).peakStack.map(toHex)).toEqual(row.peak_stack_hex);
    }
    expect(recomputeMassif(built.at(-1)!).peaks.map(toHex)).toEqual(vector.peaks);
  });

  it('idtimestamp: texts, times and the generator', () => {
    const vector = sharedVectors<{
      to_bytes: { cases: { id: string; epoch: number; bytes: string }[] };
      split_bytes: { cases: { bytes: string; id?: string; epoch?: number; error?: string }[] };
      from_unix: { cases: { seconds: number; ms: number; epoch: number; id: string }[] };
      milli_split: { cases: { id: string; ms: string }[] };
      decoded_real_values: { cases: { hex: string; epoch: number; id: string; unix_ms: number }[] };
      generator_DERIVED: {
        cases: {
          start_state_hex: string;
          now_ms_since_epoch: number[];
          sequence_bits: number;
          worker_id: number;
          ids_hex: string[];
        }[];
      };
    }>('idtimestamp');
    for (const row of vector.to_bytes.cases) expect(idtimestampHex(BigInt(row.id), row.epoch)).toBe(row.bytes);
    for (const row of vector.split_bytes.cases) {
      if (row.error) expect(() => parseIdtimestampHex(row.bytes)).toThrow();
      else expect(parseIdtimestampHex(row.bytes)).toEqual({ epoch: row.epoch, id: BigInt(row.id!) });
    }
    for (const row of vector.from_unix.cases)
      expect(idtimestampAt(1000 * row.seconds + row.ms, row.epoch)).toBe(BigInt(row.id));
    for (const row of vector.milli_split.cases) expect(idtimestampMs(BigInt(row.id), 0)).toBe(Number(row.ms));
    for (const row of vector.decoded_real_values.cases)
      expect(idtimestampMs(BigInt(row.id), row.epoch)).toBe(row.unix_ms);
    for (const row of vector.generator_DERIVED.cases) {
      // Ours has no worker bits, so its sequence does not end where a shorter one would.
      if (row.start_state_hex !== '0000000000000000') continue;
      const worker = BigInt(row.worker_id) << BigInt(row.sequence_bits);
      let last = 0n;
      row.now_ms_since_epoch.forEach((now, call) => {
        last = nextIdtimestamp(last, now + 2 ** 40 - 1);
        expect(last | worker).toBe(BigInt(`0x${row.ids_hex[call]}`));
      });
    }
  });

  it('triekey: every key', () => {
    const { vectors } = sharedVectors<{ vectors: { log_id_hex: string; app_id: string; trie_key: string }[] }>(
      'triekey',
    );
    for (const row of vectors) expect(toHex(trieKey(fromHex(row.log_id_hex), row.app_id))).toBe(row.trie_key);
  });

  it('paths: every name, and every parse of a whole name', () => {
    const vector = sharedVectors<{
      format: { kind: string; tenant: string; index?: number; path: string }[];
      parse: { path: string; tenant_uuid?: string; number?: number; ext?: string }[];
      tags: { firstindex: { value: number; tag: string }[]; lastid: { id_hex: string; epoch: number; tag: string }[] };
    }>('paths');
    for (const { kind, tenant, index, path } of vector.format) {
      const whole = (kind.endsWith('massif') || kind.endsWith('massif prefix') ? massifPath : sealPath)(
        tenant.slice('tenant/'.length),
        index ?? 0,
      );
      if (kind.endsWith('prefix')) expect(whole.startsWith(path)).toBe(true);
      else expect(whole).toBe(kind.startsWith('replica') ? `v1/mmrs/${path}` : path);
    }
    for (const row of vector.parse) {
      const parsed = parseBlobPath(row.path);
      if (row.tenant_uuid !== undefined) expect(parsed?.tenancyUuid).toBe(row.tenant_uuid);
      else if (row.number === undefined) expect(parsed).toBeUndefined();
      else expect(parsed).toMatchObject({ number: row.number, kind: row.ext === 'log' ? 'massif' : 'seal' });
    }
    for (const row of vector.tags.firstindex) expect(firstIndexTag(BigInt(row.value))).toBe(row.tag);
    for (const row of vector.tags.lastid) expect(idtimestampHex(BigInt(`0x${row.id_hex}`), row.epoch)).toBe(row.tag);
  });
});
