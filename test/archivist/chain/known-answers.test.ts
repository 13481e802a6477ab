import { readFileSync } from 'node:fs';
import { RLP } from '@ethereumjs/rlp';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { describe, expect, it } from 'vitest';
import { blockHash } from '../../../src/archivist/chain/block.js';
import { listRoot, trieRoot } from '../../../src/archivist/chain/trie-root.js';
import { dataOf, hexData } from '../../../src/archivist/quantity.js';
import { toHex, utf8 } from '../../../src/core/bytes.js';

const known = JSON.parse(readFileSync(new URL('../../../fixtures/chain/ethereum.json', import.meta.url), 'utf8')) as {
  tries: { entries: [string, string][]; root: string }[];
  genesis: Parameters<typeof blockHash>[0] & { hash: string };
  firstTransaction: { hash: string; transactionsRoot: string; fields: string[] };
};

describe('what Ethereum computes', () => {
  it.each(known.tries)('is the root of a trie: $root', ({ entries, root }) => {
    const bytes = entries.map(([key, value]) => [utf8(key), utf8(value)] as const);
    expect(toHex(trieRoot(bytes))).toBe(root);
    expect(toHex(trieRoot([...bytes].reverse()))).toBe(root);
  });

  it('is the hash of a block, from its fields as text', () => {
    const fields = { ...known.genesis, logsBloom: `0x${'00'.repeat(256)}` };
    expect(hexData(blockHash(fields))).toBe(known.genesis.hash);
    expect(hexData(blockHash({ ...fields, number: '0x1' }))).not.toBe(known.genesis.hash);
    expect(hexData(blockHash({ ...fields, mixHash: `0x${'11'.repeat(32)}` }))).not.toBe(known.genesis.hash);
  });

  it('is the root over the transactions of a block', () => {
    const signed = RLP.encode(known.firstTransaction.fields.map(dataOf));
    expect(hexData(keccak_256(signed))).toBe(known.firstTransaction.hash);
    expect(toHex(listRoot([signed]))).toBe(known.firstTransaction.transactionsRoot);
  });
});
