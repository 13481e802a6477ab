import { RLP } from '@ethereumjs/rlp';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditChain } from '../../../src/archivist/audit/audit-chain.js';
import { transactionRows } from '../../../src/archivist/audit/chain-audit-store.js';
import { blockOf, headerFields } from '../../../src/archivist/chain/block.js';
import { readChainFork, signChainFork } from '../../../src/archivist/chain/chain-fork.js';
import { findHead } from '../../../src/archivist/chain/chain-store.js';
import { extendChain } from '../../../src/archivist/chain/extend-chain.js';
import { forkChain } from '../../../src/archivist/chain/fork-chain.js';
import { isBlockKept } from '../../../src/archivist/chain/kept-blocks.js';
import { signTransaction } from '../../../src/archivist/chain/transaction.js';
import { watchChain } from '../../../src/archivist/chain/watch-chain.js';
import { dataOf, hexData, numberOf } from '../../../src/archivist/quantity.js';
import { toHex } from '../../../src/core/bytes.js';
import { noFailpoints } from '../../../src/ledger/failpoints.js';
import { fileObjectStore } from '../../../src/platform/file-object-store.js';
import { walletAddress } from '../../../src/platform/keys/wallet-address.js';
import { createLogger } from '../../../src/platform/logger.js';
import type { ObjectStore } from '../../../src/platform/object-store.js';
import { Crash, readAll } from './anchor-rig.js';
import { type AnchoredService, startAnchoredService } from './anchored-service.js';

interface Placed {
  readonly hash: Uint8Array;
  readonly signed: Uint8Array;
  readonly sender: string;
}

let service: AnchoredService;
beforeAll(async () => {
  service = await startAnchoredService();
});
afterAll(() => service?.close());

describe('a database that is older than its chain', () => {
  const REASON = 'restored from an older copy';
  const faults = async () => {
    const found: string[] = [];
    const { database, deployment } = service.rig;
    const { keyring } = service.running.service.parts;
    await auditChain({
      database,
      deployment,
      keyring,
      objectStore: objects(),
      fault: (_, what) => void found.push(what),
    });
    return found;
  };
  const objects = () => fileObjectStore(service.objectsDir);
  const forkDeps = () => {
    const { database, deployment, keyring, clock } = service.running.service.parts;
    return { database, deployment, keyring, clock, objectStore: objects(), logger: createLogger('silent') };
  };

  type Row = Awaited<ReturnType<typeof readAll>>['blocks'][number];
  const lose = async ({ block_number: number }: Row) => {
    await service.running.asOwner(`DELETE FROM archivist.chain_block WHERE block_number = ${number}`);
    await service.running.asOwner(`DELETE FROM archivist.chain_transaction WHERE block_number = ${number}`);
  };
  /** As after a restore of a copy that is one block older than the object store. */
  const loseNewestBlock = async (): Promise<Row> => {
    await service.confirmed();
    await service.anchoredAll();
    await service.rig.extend();
    const newest = (await readAll(service.rig.database)).blocks.at(-1)!;
    await lose(newest);
    return newest;
  };

  it('goes on after an open fork, under a number that no block had, and says what was lost', async () => {
    await service.confirmed();
    await service.anchoredAll();
    await service.rig.extend();
    const before = (await readAll(service.rig.database)).blocks;
    const [known, lost] = before.slice(-2) as [(typeof before)[number], (typeof before)[number]];
    await expect(forkChain(forkDeps(), { confirm: 'chain', reason: REASON })).rejects.toThrow(/is not older/);
    await lose(lost);
    expect(await faults()).toEqual([expect.stringMatching(/the database is older/)]);
    await expect(service.rig.extend()).rejects.toThrow(/is not extended/);
    const looks: boolean[] = [];
    const watch = await watchChain({ ...forkDeps(), looked: (isHalted) => void looks.push(isHalted) });
    expect(watch.halted()).toBe(
      `the database ends with block ${known.block_number}, the object store with block ${lost.block_number}`,
    );
    await expect(forkChain(forkDeps(), { confirm: 'yes', reason: REASON })).rejects.toThrow(/confirm/);
    await expect(forkChain(forkDeps(), { confirm: 'chain', reason: ' ' })).rejects.toThrow(/^reason: say why/);

    const { finding, head } = await forkChain(forkDeps(), { confirm: 'chain', reason: REASON });
    expect([finding, head.number]).toEqual(['consistent', lost.block_number + 1n]);
    expect(headerFields(head.header).parentHash).toBe(hexData(known.block_hash));
    expect(readChainFork(head)).toEqual({
      lastNumber: lost.block_number,
      lastHash: new Uint8Array(lost.block_hash),
      reason: REASON,
      signer: service.running.service.parts.keyring.chain.address,
    });
    await watch.refresh();
    await watch.close();
    expect([watch.halted(), looks[0], looks.at(-1)]).toEqual([undefined, true, false]);
    expect(await service.rig.extend()).toBeGreaterThan(0);
    expect(await faults()).toEqual([]);
    const asked = await service.owner.get(`/archivist/v1/archivistnode/block?number=${lost.block_number}`);
    expect([asked.status, asked.json['description']]).toEqual([
      404,
      expect.stringContaining('was lost with a database'),
    ]);
  });

  it('is not reported if another process adds a block between two looks', async () => {
    await service.confirmed();
    await service.anchoredAll();
    await service.rig.extend();
    await service.confirmed();
    await service.anchoredAll();
    const deps = forkDeps();
    let looks = 0;
    let added = 0;
    const found: { readonly looks: number; readonly isHalted: boolean }[] = [];
    const watch = await watchChain({
      ...deps,
      database: {
        ...deps.database,
        async inTransaction(scope, work) {
          const result = await deps.database.inTransaction(scope, work);
          looks += 1;
          if (looks === 1) added = await service.rig.extend();
          return result;
        },
      },
      looked: (isHalted) => void found.push({ looks, isHalted }),
    });
    await watch.close();
    expect(added).toBeGreaterThan(0);
    expect(found[0]).toEqual({ looks: 2, isHalted: false });
  });

  it('is known to go on after an open fork, however late a look from before the fork ends', async () => {
    await loseNewestBlock();
    const deps = forkDeps();
    let looks = 0;
    let reached = () => {};
    let release = () => {};
    const heldBack = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const forked = new Promise<void>((resolve) => {
      release = resolve;
    });
    const watch = await watchChain({
      ...deps,
      database: {
        ...deps.database,
        inTransaction: (scope, work) => {
          looks += 1;
          return deps.database.inTransaction(scope, work);
        },
      },
      objectStore: {
        ...deps.objectStore,
        async get(key) {
          const found = await deps.objectStore.get(key);
          // Each finding of a halt takes two looks: this is the second one of the second finding.
          if (looks === 4) {
            reached();
            await forked;
          }
          return found;
        },
      },
      looked: () => undefined,
    });
    await heldBack;
    expect(watch.halted()).toMatch(/the database ends with block/);
    await forkChain(deps, { confirm: 'chain', reason: REASON });
    await watch.refresh();
    release();
    await watch.close();
    expect(watch.halted()).toBeUndefined();
    expect(await service.rig.extend()).toBeGreaterThan(0);
  });

  it('is forked again after a crash between the object of the fork block and its row, and that block is named as the last one', async () => {
    const lost = await loseNewestBlock();
    const deps = forkDeps();
    let transactions = 0;
    const crashing: typeof deps = {
      ...deps,
      database: {
        ...deps.database,
        inTransaction: (scope, work) => {
          transactions += 1;
          if (transactions > 1) throw new Crash('before the row');
          return deps.database.inTransaction(scope, work);
        },
      },
    };
    await expect(forkChain(crashing, { confirm: 'chain', reason: REASON })).rejects.toThrow(Crash);
    const unused = lost.block_number + 1n;
    expect(await isBlockKept(deps.objectStore, service.rig.deployment.deploymentTenancy, unused)).toBe(true);
    expect((await readAll(service.rig.database)).blocks.at(-1)!.block_number).toBe(lost.block_number - 1n);

    const { finding, head } = await forkChain(deps, { confirm: 'chain', reason: REASON });
    expect([finding, head.number, readChainFork(head)!.lastNumber]).toEqual(['consistent', unused + 1n, unused]);
    expect(await service.rig.extend()).toBeGreaterThan(0);
    expect(await faults()).toEqual([]);
  });

  it('is not forked by two operators at once: the second one is told that the chain has changed', async () => {
    const lost = await loseNewestBlock();
    const deps = forkDeps();
    let forked = false;
    const overtaken: ObjectStore = {
      ...deps.objectStore,
      async get(key) {
        const first = !forked;
        forked = true;
        if (first) await forkChain(deps, { confirm: 'chain', reason: REASON });
        return deps.objectStore.get(key);
      },
    };
    const second = forkChain({ ...deps, objectStore: overtaken }, { confirm: 'chain', reason: REASON });
    await expect(second).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('The chain has changed since the request began'),
    });
    expect((await readAll(service.rig.database)).blocks.at(-1)!.block_number).toBe(lost.block_number + 1n);
    // The object store has the second one's block: the next fork names it as the last one.
    await forkChain(deps, { confirm: 'chain', reason: REASON });
    expect(await faults()).toEqual([]);
  });

  it('is not extended under a lost number by a process that looked at the chain before an open fork', async () => {
    const lost = await loseNewestBlock();
    const deps = forkDeps();
    let looks = 0;
    const forkedMeanwhile: ObjectStore = {
      ...deps.objectStore,
      async get(key) {
        const found = await deps.objectStore.get(key);
        looks += 1;
        if (looks === 1) await forkChain(deps, { confirm: 'chain', reason: REASON });
        return found;
      },
    };
    const never = () => false;
    expect(
      await extendChain({ ...deps, objectStore: forkedMeanwhile, failpoints: noFailpoints }, never),
    ).toBeGreaterThan(0);
    const numbers = (await readAll(service.rig.database)).blocks.map(({ block_number: number }) => number);
    expect(numbers).toContain(lost.block_number + 1n);
    expect(numbers).not.toContain(lost.block_number);
    expect(await faults()).toEqual([]);
  });

  it('is a fault of the audit without the signed fork, and with one that names another block', async () => {
    const { blocks } = await readAll(service.rig.database);
    const place = blocks.findIndex(({ block_number: number, header }) => readChainFork({ number, header }));
    const [parent, block] = blocks.slice(place - 1) as [(typeof blocks)[number], (typeof blocks)[number]];
    const { chain: key } = service.running.service.parts.keyring;
    const fork = readChainFork({ number: block.block_number, header: block.header })!;
    const auditedWith = async (extraData: Uint8Array) => {
      const { hash, header } = blockOf({
        number: block.block_number,
        parentHash: parent.block_hash,
        miner: dataOf(key.address),
        transactions: [],
        timestamp: BigInt(headerFields(block.header).timestamp),
        extraData,
      });
      const put = (to: { header: Uint8Array; hash: Uint8Array }) =>
        service.running.asOwner(
          `UPDATE archivist.chain_block SET header = '\\x${toHex(to.header)}', block_hash = '\\x${toHex(to.hash)}'
            WHERE block_number = ${block.block_number}`,
        );
      await put({ header, hash });
      const found = await faults();
      await put({ header: block.header, hash: block.block_hash });
      return found.join('; ');
    };
    expect(await auditedWith(new Uint8Array())).toMatch(/follows block/);
    expect(await auditedWith(Uint8Array.of(1))).toMatch(/not a signed fork/);
    const signed = (lastNumber: bigint, lastHash: Uint8Array) =>
      signChainFork({ ...fork, lastNumber, lastHash }, parent.block_hash, key);
    expect(await auditedWith(await signed(fork.lastNumber + 1n, fork.lastHash))).toMatch(/forks the chain after/);
    expect(await auditedWith(await signed(fork.lastNumber, new Uint8Array(32)))).toMatch(/names a different block/);
    const name = `blocks/${service.rig.deployment.deploymentTenancy}/${fork.lastNumber.toString().padStart(16, '0')}`;
    const kept = (await objects().get(name))!;
    await objects().remove(name);
    expect((await faults()).join('; ')).toMatch(/names block \d+, which is not in the object store/);
    await objects().put(name, kept);
    const moved = await signChainFork(fork, new Uint8Array(32), key);
    expect(await auditedWith(moved)).toMatch(/not signed by the key that made the block/);
    expect(await faults()).toEqual([]);
  });

  it('has a fault in its audit for a transaction that its sender did not sign, and for a block of a strange key', async () => {
    await service.confirmed();
    await service.anchoredAll();
    await service.rig.extend();
    expect(await faults()).toEqual([]);
    const secret = new Uint8Array(32).fill(7);
    const strange = {
      address: walletAddress(secp256k1.getPublicKey(secret, false).subarray(1)),
      async sign(hash: Uint8Array) {
        const signature = secp256k1.sign(hash, secret, { prehash: false, format: 'recovered' });
        const { r, s, recovery } = secp256k1.Signature.fromBytes(signature, 'recovered');
        return { r, s, recovery: recovery! };
      },
    };
    const block = (await readAll(service.rig.database)).blocks.at(-1)!;
    const number = block.block_number;
    const rows = await service.rig.database.inTransaction('system', (tx) => transactionRows(tx, number, number));
    expect(rows.length).toBeGreaterThan(0);
    const forged = await Promise.all(
      rows.map(({ signed }) => {
        const [nonce, , , to, , input] = RLP.decode(signed) as Uint8Array[];
        return signTransaction({ nonce: numberOf(nonce!), to: hexData(to!), input: input! }, strange);
      }),
    );
    const fields = headerFields(block.header);
    const put = async (to: { header: Uint8Array; hash: Uint8Array }, of: readonly Placed[]) => {
      for (const [place, { hash, signed, sender }] of of.entries())
        await service.running.asOwner(
          `UPDATE archivist.chain_transaction SET signed = '\\x${toHex(signed)}', transaction_hash = '\\x${toHex(hash)}',
             sender = '${sender}' WHERE block_number = ${number} AND transaction_index = ${place}`,
        );
      await service.running.asOwner(
        `UPDATE archivist.chain_block SET header = '\\x${toHex(to.header)}', block_hash = '\\x${toHex(to.hash)}'
          WHERE block_number = ${number}`,
      );
    };
    const auditedAs = async (miner: string, sender: string) => {
      const made = blockOf({
        number,
        parentHash: dataOf(fields.parentHash),
        miner: dataOf(miner),
        transactions: forged.map(({ signed }) => signed),
        timestamp: BigInt(fields.timestamp),
        extraData: new Uint8Array(),
      });
      await put(
        made,
        forged.map((each) => ({ ...each, sender })),
      );
      return (await faults()).filter((each) => !each.includes('differs from the one in the object store'));
    };
    const own = rows[0]!.sender;
    expect(await auditedAs(own, own)).toEqual(
      rows.map((_, place) => `transaction ${place} of block ${number}: it is not signed by its sender`),
    );
    expect(await auditedAs(strange.address, strange.address)).toEqual([
      `block ${number} was not made with a chain key of this deployment`,
    ]);
    // A list that is too short, no list, and a list in a list: the audit still reads the others.
    for (const value of [[], new Uint8Array(60).fill(1), [[], [], [], [], [], []]]) {
      const signed = RLP.encode(value);
      await put({ header: block.header, hash: block.block_hash }, [{ signed, hash: keccak_256(signed), sender: own }]);
      expect(await faults()).toContain(`transaction 0 of block ${number}: it cannot be read`);
    }
    await put(
      { header: block.header, hash: block.block_hash },
      rows.map(({ signed, transaction_hash: hash, sender }) => ({ signed, hash, sender })),
    );
    expect(await faults()).toEqual([]);
  });

  it('has its chain extended by nobody', async () => {
    await service.confirmed();
    await service.anchoredAll();
    await service.rig.extend();
    const { blocks } = await readAll(service.rig.database);
    const last = blocks.at(-1)!.block_number;
    await service.running.asOwner(`DELETE FROM archivist.chain_block WHERE block_number = ${last}`);
    await service.running.asOwner(`DELETE FROM archivist.chain_transaction WHERE block_number = ${last}`);
    await expect(service.rig.extend()).rejects.toThrow(/is not extended/);
    expect((await readAll(service.rig.database)).blocks.length).toBe(blocks.length - 1);
    const { deploymentTenancy: chain } = service.rig.deployment;
    await service.running.asOwner(
      `UPDATE archivist.chain_block SET header = '\\x00' WHERE block_number = ${last - 1n}`,
    );
    await expect(service.rig.extend()).rejects.toThrow(/another block/);
    const watch = await watchChain({ ...forkDeps(), looked: () => undefined });
    await watch.close();
    expect(watch.halted()).toBe(`the object store has another block ${last - 1n} than the database`);
    expect((await service.rig.database.inTransaction('system', (tx) => findHead(tx, chain)))!.number).toBe(last - 1n);
  });
});
