import { RLP } from '@ethereumjs/rlp';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { blockHash, blockOf, blockResponse, headerFields } from '../../../src/archivist/chain/block.js';
import { readChainFork, signChainFork } from '../../../src/archivist/chain/chain-fork.js';
import { createSimpleHash } from '../../../src/archivist/chain/simple-hash.js';
import { signTransaction, transactionResponse } from '../../../src/archivist/chain/transaction.js';
import { listRoot } from '../../../src/archivist/chain/trie-root.js';
import { dataOf, hexData, numberOf } from '../../../src/archivist/quantity.js';
import { chainKey } from '../../../src/platform/keys/chain-key.js';
import { newKeyPair } from '../../../src/platform/keys/new-key-pair.js';
import { nodePrivateKey } from '../../../src/platform/keys/node-private-key.js';
import { walletAddress } from '../../../src/platform/keys/wallet-address.js';

const pair = newKeyPair({ type: 'ec', curve: 'secp256k1' });
const publicJwk = pair.publicKey.export({ format: 'jwk' }) as Record<string, string>;
const key = chainKey(publicJwk, nodePrivateKey(pair.privateKey));
const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
const number = fc.bigInt({ min: 0n, max: 2n ** 60n });

describe('a block', () => {
  it('has a hash that its served fields give again, whatever it holds', () => {
    fc.assert(
      fc.property(
        fc.record({
          number,
          parentHash: bytes(32),
          miner: bytes(20),
          transactions: fc.array(fc.uint8Array({ minLength: 1, maxLength: 80 }), { maxLength: 40 }),
          timestamp: number,
          extraData: fc.uint8Array({ maxLength: 32 }),
        }),
        (content) => {
          const block = blockOf(content);
          const shown = blockResponse(block);
          expect(hexData(blockHash(shown))).toBe(shown.hash);
          expect(BigInt(shown.number)).toBe(content.number);
          expect(headerFields(block.header).mixHash).toBe(`0x${'00'.repeat(32)}`);
        },
      ),
      { numRuns: 40 },
    );
  });

  it('has another root with any transaction changed, left out or moved', () => {
    const list = Array.from({ length: 200 }, (_, place) => Uint8Array.of(1 + (place % 7), place));
    const roots = [list, list.slice(1), [...list].reverse(), list.with(130, Uint8Array.of(9))].map((each) =>
      hexData(listRoot(each)),
    );
    expect(new Set(roots).size).toBe(4);
  });
});

describe('a block that continues a chain whose end was lost', () => {
  const parentHash = new Uint8Array(32).fill(3);
  const fork = { lastNumber: 6n, lastHash: new Uint8Array(32).fill(4), reason: 'the disk was lost' };
  const withExtraData = (extraData: Uint8Array) =>
    blockOf({ number: 7n, parentHash, miner: dataOf(key.address), transactions: [], timestamp: 1n, extraData });

  it('says what was lost, why, and whose key signed that', async () => {
    const signed = await signChainFork(fork, parentHash, key);
    expect(readChainFork(withExtraData(signed))).toEqual({ ...fork, signer: key.address });
  });

  it.each([
    ['zero', 0n],
    ['the order of the curve', secp256k1.Point.Fn.ORDER],
  ])('is refused with a signature that no key can make: r is %s', async (_, r) => {
    const signed = RLP.decode(await signChainFork(fork, parentHash, key)) as Uint8Array[];
    const block = withExtraData(RLP.encode([...signed.slice(0, 4), r, ...signed.slice(5)]));
    expect(() => readChainFork(block)).toThrow('its fork is not signed');
  });
});

describe('a transaction', () => {
  const to = walletAddress(new Uint8Array(64).fill(7));
  const place = { sender: key.address, blockNumber: 5n, blockHash: new Uint8Array(32), transactionIndex: 1 };

  it('is signed by the key of its sender, for this chain alone', async () => {
    await fc.assert(
      fc.asyncProperty(number, fc.uint8Array({ maxLength: 200 }), async (nonce, input) => {
        const signed = await signTransaction({ nonce, to, input }, key);
        const [n, price, gas, receiver, value, data, v, r, s] = RLP.decode(signed.signed) as Uint8Array[];
        const chainId = BigInt(0x56434f4e);
        const recovery = numberOf(v!) - 35n - 2n * chainId;
        expect([0n, 1n]).toContain(recovery);
        const hash = keccak_256(RLP.encode([n!, price!, gas!, receiver!, value!, data!, chainId, 0, 0]));
        const point = new secp256k1.Signature(numberOf(r!), numberOf(s!), Number(recovery)).recoverPublicKey(hash);
        expect(walletAddress(point.toBytes(false).slice(1))).toBe(key.address);
        expect(await signTransaction({ nonce, to, input }, key)).toEqual(signed);
      }),
      { numRuns: 15 },
    );
  });

  it('shows its numbers as decimal text and the tenancy that it is about', async () => {
    const shown = transactionResponse(
      { ...(await signTransaction({ nonce: 402n, to, input: Uint8Array.of(1) }, key)), ...place },
      to,
    );
    expect(shown).toMatchObject({ nonce: '402', block_number: '5', transaction_index: 1, from: key.address, to });
    expect([shown.value, shown.gas, shown.gas_price, shown.input]).toEqual(['0', '0', '0', '0x01']);
  });
});

describe('a simple hash', () => {
  const event = {
    identity: 'assets/a/events/b',
    asset_identity: 'assets/a',
    event_attributes: { b: 'x', a: ['é', { c: 'd' }] },
    asset_attributes: {},
    operation: 'Record',
    behaviour: 'RecordEvidence',
    timestamp_declared: '2026-01-01T00:00:00Z',
    timestamp_accepted: '2026-01-01T00:00:00.001Z',
    timestamp_committed: '2026-01-01T00:00:01.001Z',
    principal_accepted: { issuer: 'i', subject: 's', display_name: '', email: '' },
    principal_declared: { issuer: 'i', subject: 's', display_name: '', email: '' },
    confirmation_status: 'CONFIRMED',
    from: '0x00',
    tenant_identity: 'tenant/t',
  };
  const hashOf = (...events: Record<string, unknown>[]) => {
    const hash = createSimpleHash();
    for (const each of events) hash.add(each);
    return hexData(hash.digest());
  };

  it('covers every one of its fourteen fields, and the order of events', () => {
    const other = { ...event, identity: 'assets/a/events/c' };
    const hashes = Object.keys(event).map((field) => hashOf({ ...event, [field]: 'changed' }));
    expect(new Set([hashOf(event), ...hashes]).size).toBe(15);
    expect(hashOf(event, other)).not.toBe(hashOf(other, event));
  });

  it('covers nothing else: being anchored does not change it', () => {
    expect(hashOf({ ...event, transaction_id: '0x1', block_number: 4, merklelog_entry: {} })).toBe(hashOf(event));
  });
});
