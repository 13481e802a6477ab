import { describe, expect, it } from 'vitest';
import { fromHex, toHex } from '../../../src/core/bytes.js';
import { VerificationError } from '../../../src/core/errors.js';
import { idtimestampHex, idtimestampMs, parseIdtimestampHex } from '../../../src/core/massif/idtimestamp.js';
import {
  firstLeaf,
  firstNode,
  fullNodeCount,
  massifOfLeaf,
  massifOfSize,
  nodeStart,
  stackStart,
} from '../../../src/core/massif/massif-layout.js';
import { decodeMassifStart, encodeMassifStart } from '../../../src/core/massif/massif-start.js';
import { peakStackIndices } from '../../../src/core/massif/peak-stack.js';
import { readMassif } from '../../../src/core/massif/read-massif.js';
import { trieKey } from '../../../src/core/massif/trie-entry.js';
import { sha256 } from '../../../src/core/sha256.js';
import { recomputeMassif } from '../../../src/core/verify/verify-massif.js';
import { fixture } from '../mmr/shared-vectors.js';
import { knownLog, massifOf, sampleLog } from './sample-log.js';

const files = fixture<{
  digests: [number, number, number, string][];
  height3Massif4: string;
  height14: { tenant: string; leaves: number; sha256: string[] };
}>('massif/files.json');

describe('massif files of known content', () => {
  it('are byte for byte the published ones at heights 2, 3 and 4, and verify', () => {
    const log = knownLog();
    for (const [height, massif, length, digest] of files.digests) {
      const bytes = massifOf(log, height, massif);
      expect([bytes.length, toHex(sha256(bytes))]).toEqual([length, digest]);
      expect(recomputeMassif(bytes).index).toBe(massif);
    }
    expect(toHex(massifOf(log, 3, 4))).toBe(files.height3Massif4);
  });

  it('are byte for byte the published ones at height 14, and verify', () => {
    const log = sampleLog(files.height14.tenant, files.height14.leaves, (leaf) => `events-${leaf}`);
    const built = files.height14.sha256.map((_, massif) => massifOf(log, 14, massif));
    expect(built.map((bytes) => toHex(sha256(bytes)))).toEqual(files.height14.sha256);
    for (const [index, bytes] of built.entries()) expect(recomputeMassif(bytes).index).toBe(index);
  });

  it('read as what they were built from', () => {
    const log = knownLog();
    const massif = readMassif(fromHex(files.height3Massif4));
    expect(massif).toMatchObject({ height: 3, index: 4, epoch: 1, firstNode: 31n, firstLeaf: 16n, size: 38n });
    expect(massif.entries).toEqual(log.entries.slice(16, 20));
    expect(massif.lastIdtimestamp).toBe(log.entries[19]!.idtimestamp);
    expect(massif.peakStack).toEqual([log.nodes[30]]);
    for (const index of [30, 31, 32, 33, 34, 35, 36, 37])
      expect(massif.nodeAt(BigInt(index))).toEqual(log.nodes[index]);
    for (const index of [-1n, 0n, 29n, 38n]) expect(() => massif.nodeAt(index)).toThrow(VerificationError);
  });
});

describe('massif arithmetic', () => {
  it('puts every part of every published massif where it is', () => {
    type Row = [number, number, number, number, number, number, number, number[], number];
    const { rows } = fixture<{ rows: Row[] }>('massif/layout.json');
    for (const [height, massif, stack, node, leaf, first, last, peakStack, fullSize] of rows) {
      expect(stackStart(height)).toBe(stack);
      expect(nodeStart(height, massif)).toBe(node);
      expect(Number(firstLeaf(height, massif))).toBe(leaf);
      expect(Number(firstNode(height, massif))).toBe(first);
      expect(first + fullNodeCount(height, massif) - 1).toBe(last);
      expect(peakStackIndices(height, massif).map(Number)).toEqual(peakStack);
      expect(node + 32 * fullNodeCount(height, massif)).toBe(fullSize);
      expect(massifOfLeaf(height, BigInt(leaf))).toBe(massif);
      expect(massifOfSize(height, BigInt(last) + 1n)).toBe(massif);
      if (massif > 0) expect(massifOfSize(height, BigInt(first))).toBe(massif - 1);
    }
    expect(() => massifOfSize(14, 0n)).toThrow(RangeError);
  });

  it('writes and reads the published start records, and refuses another version', () => {
    const { rows, otherVersions } = fixture<{
      rows: [string, string, number, number, number][];
      otherVersions: string[];
    }>('massif/start-record.json');
    for (const [hex, lastId, epoch, height, index] of rows) {
      const start = { lastIdtimestamp: BigInt(`0x${lastId}`), epoch, height, index };
      expect(toHex(encodeMassifStart(start))).toBe(hex);
      expect(decodeMassifStart(fromHex(hex))).toEqual(start);
    }
    for (const hex of otherVersions) expect(() => decodeMassifStart(fromHex(hex))).toThrow(VerificationError);
  });

  it('derives the published trie keys', () => {
    const { rows } = fixture<{ rows: [string, string, string][] }>('massif/trie-key.json');
    for (const [logId, appId, key] of rows) expect(toHex(trieKey(fromHex(logId), appId))).toBe(key);
  });

  it('reads the time of published idtimestamps, and writes them again', () => {
    const { rows } = fixture<{ rows: [string, number, string, number][] }>('massif/idtimestamp.json');
    for (const [hex, epoch, id, unixMs] of rows) {
      expect(parseIdtimestampHex(hex)).toEqual({ epoch, id: BigInt(id) });
      expect(idtimestampMs(BigInt(id), epoch)).toBe(unixMs);
      expect(idtimestampHex(BigInt(id), epoch)).toBe(hex);
    }
  });
});
