import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RLP } from '@ethereumjs/rlp';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditAnchors } from '../../../src/archivist/audit/audit-anchors.js';
import { auditChain } from '../../../src/archivist/audit/audit-chain.js';
import { transactionRows } from '../../../src/archivist/audit/chain-audit-store.js';
import { closeWindow, holdWindowsOpen, readyWindow } from '../../../src/archivist/chain/anchor-store.js';
import { blockOf, headerFields } from '../../../src/archivist/chain/block.js';
import { readChainFork, signChainFork } from '../../../src/archivist/chain/chain-fork.js';
import { appendBlock, findHead } from '../../../src/archivist/chain/chain-store.js';
import { extendChain } from '../../../src/archivist/chain/extend-chain.js';
import { forkChain } from '../../../src/archivist/chain/fork-chain.js';
import { isBlockKept } from '../../../src/archivist/chain/kept-blocks.js';
import { signTransaction } from '../../../src/archivist/chain/transaction.js';
import { watchChain } from '../../../src/archivist/chain/watch-chain.js';
import { rotateDeploymentKey } from '../../../src/archivist/operator/manage-keys.js';
import { dataOf, hexData, numberOf } from '../../../src/archivist/quantity.js';
import { toHex } from '../../../src/core/bytes.js';
import { noFailpoints } from '../../../src/ledger/failpoints.js';
import { fileObjectStore } from '../../../src/platform/file-object-store.js';
import { walletAddress } from '../../../src/platform/keys/wallet-address.js';
import { createLogger } from '../../../src/platform/logger.js';
import type { ObjectStore } from '../../../src/platform/object-store.js';
import { type Client, startTestService, type TestService, until } from '../../api/test-service.js';
import { anchorRig, Crash, crashAt, readAll } from './anchor-rig.js';

interface Placed {
  readonly hash: Uint8Array;
  readonly signed: Uint8Array;
  readonly sender: string;
}

let running: TestService;
let owner: Client;
let rig: ReturnType<typeof anchorRig>;
let asset: string;
let tenantId: string;
let keysDir: string;
beforeAll(async () => {
  // The job itself stays away: the tests run it, and stop it where they like.
  keysDir = await mkdtemp(join(tmpdir(), 'keys-'));
  running = await startTestService({ ANCHOR_SCHEDULE: '0 0 1 1 *', KEYS_DIR: keysDir });
  owner = running.owner;
  rig = anchorRig(running, join(keysDir, 'objects'));
  const { json } = await owner.post('/archivist/v2/assets', { attributes: {}, proof_mechanism: 'SIMPLE_HASH' });
  asset = String(json['identity']);
  tenantId = String(json['tenant_identity']).slice('tenant/'.length);
});
afterAll(async () => {
  await running?.close();
  await rm(keysDir, { recursive: true, force: true });
});

const scope = () => ({ read: [tenantId], write: [tenantId] });
const EVENT = { operation: 'Record', behaviour: 'RecordEvidence', event_attributes: {} };
const record = async () => (await owner.post(`/archivist/v2/${asset}/events`, EVENT)).json;
const confirmed = async () => {
  const { identity } = await record();
  const read = () => owner.get(`/archivist/v2/${identity}`);
  await until(read, ({ json }) => json['confirmation_status'] === 'CONFIRMED', 20_000);
  return String(identity);
};
/** Records an event while its window is already closed until a moment that is still to come when it is answered. */
const recordBeforeEnd = async () => {
  // The first that a busy machine keeps.
  for (let aheadMs = 1_500; ; aheadMs *= 2) {
    const future = new Date(Date.now() + aheadMs);
    await running.asOwner(
      `UPDATE archivist.anchor_window SET closed_until = '${future.toISOString()}' WHERE tenant_id = '${tenantId}'`,
    );
    const event = await record();
    if (Date.now() < future.getTime()) return { future, event };
  }
};
const anchoredAll = async () => {
  for (let attempt = 0; attempt < 50; attempt += 1) {
    await rig.anchor();
    if ((await readAll(rig.database)).waiting.length === 0) break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return readAll(rig.database);
};
/** What must hold of the chain whatever has happened to those who wrote it. */
const audit = async () => {
  const { blocks, transactions, anchors, seals } = await readAll(rig.database);
  for (const [place, block] of blocks.entries()) {
    expect(block.block_number).toBe(BigInt(place));
    const parent = blocks[place - 1];
    if (parent) expect(headerFields(block.header).parentHash).toBe(hexData(parent.block_hash));
  }
  const nonces = transactions.map(({ signed }) => numberOf((RLP.decode(signed) as Uint8Array[])[0]!));
  expect(nonces).toEqual(transactions.map((_, place) => BigInt(place)));
  const written = (kind: string) => transactions.filter((each) => each.kind === kind).length;
  expect(written('SIMPLE_HASH')).toBe(anchors.length);
  expect(written('MERKLE_LOG')).toBe(seals.length);
  for (const tenant of new Set(anchors.map((anchor) => anchor.tenant_id))) {
    const own = anchors.filter((anchor) => anchor.tenant_id === tenant);
    for (const [place, anchor] of own.entries())
      expect(anchor.start_time).toEqual(own[place - 1]?.end_time ?? new Date(0));
  }
};

describe('a window', () => {
  it('is not closed while nothing waits in it', async () => {
    await anchoredAll();
    const before = await rig.database.inTransaction(scope(), (tx) => holdWindowsOpen(tx, [tenantId]));
    expect(await rig.anchor()).toBe(0);
    expect(await rig.database.inTransaction(scope(), (tx) => holdWindowsOpen(tx, [tenantId]))).toEqual(before);
  });

  it('is closed only when the accepts that are open have ended', async () => {
    await confirmed();
    await rig.database.inTransaction(scope(), async (tx) => {
      await holdWindowsOpen(tx, [tenantId]);
      // On one connection nothing can be open beside it, and nothing may wait for the database inside a transaction.
      if (rig.database.connections > 1) expect(await rig.anchor()).toBe(0);
    });
    expect(await rig.anchor()).toBe(1);
  });

  it('takes no event after it is closed: one accepted by a clock that is behind counts as accepted at its end', async () => {
    await confirmed();
    const { future, event } = await recordBeforeEnd();
    expect(event['timestamp_accepted']).toBe(future.toISOString());
    expect(event['timestamp_declared']).toBe(future.toISOString());
    const before = (await readAll(rig.database)).anchors.length;
    for (let made = 0; made === 0; ) made = await rig.anchor();
    const { anchors, waiting } = await readAll(rig.database);
    expect(anchors.length).toBe(before + 1);
    expect(anchors.at(-1)!.end_time).toEqual(future);
    expect(waiting.length).toBe(1);
    await anchoredAll();
  });

  it('waits for its anchor until every event in it is confirmed', async () => {
    await running.asOwner(`UPDATE archivist.log SET halted = 'for a test' WHERE log_id = '${tenantId}'`);
    await record();
    await rig.database.inTransaction(scope(), (tx) => closeWindow(tx, tenantId, 0));
    expect(await rig.database.inTransaction(scope(), (tx) => readyWindow(tx, tenantId))).toBeUndefined();
    expect(await rig.anchor()).toBe(0);
    await running.asOwner(`UPDATE archivist.log SET halted = NULL WHERE log_id = '${tenantId}'`);
    // The service may have seen that the log is halted, and sees within about a second that it is not.
    const again = () => owner.post(`/archivist/v2/${asset}/events`, EVENT);
    await until(again, ({ status }) => status === 200, 20_000);
    expect((await anchoredAll()).waiting).toEqual([]);
  });

  it('holds events of one and the same time once each', async () => {
    const before = (await anchoredAll()).anchors.reduce((sum, each) => sum + each.event_count, 0n);
    const items = Array.from({ length: 40 }, () => EVENT);
    const { status } = await owner.post(`/archivist/v2/${asset}/events:bulk`, { events: items });
    expect(status).toBe(200);
    const { anchors } = await anchoredAll();
    expect(anchors.reduce((sum, each) => sum + each.event_count, 0n) - before).toBe(40n);
  });
});

describe('after a crash', () => {
  it.each(['anchor.closed', 'anchor.inside'])('at %s the window is anchored once', async (name) => {
    await confirmed();
    const before = (await readAll(rig.database)).anchors.length;
    expect(await rig.anchor(crashAt(name))).toBe(0);
    expect((await readAll(rig.database)).anchors.length).toBe(before);
    await anchoredAll();
    expect((await readAll(rig.database)).anchors.length).toBe(before + 1);
    await rig.extend();
    await audit();
  });

  it.each(['chain.signed', 'chain.inside'])('at %s the chain has every anchor and every seal once', async (name) => {
    await confirmed();
    await anchoredAll();
    const before = (await readAll(rig.database)).blocks.length;
    await expect(rig.extend(crashAt(name))).rejects.toThrow(Crash);
    expect((await readAll(rig.database)).blocks.length).toBe(before);
    await rig.extend();
    await audit();
  });
});

describe('a new block', () => {
  const isHeadKept = async () => {
    const { block_number: number } = (await readAll(rig.database)).blocks.at(-1)!;
    return isBlockKept(fileObjectStore(join(keysDir, 'objects')), rig.deployment.deploymentTenancy, number);
  };

  it('is in the object store when its pass ends, also of one that is stopped', async () => {
    await confirmed();
    await anchoredAll();
    const before = (await readAll(rig.database)).blocks.length;
    let looks = 0;
    const afterOneBlock = () => looks++ > 0;
    expect(await rig.extend(noFailpoints, afterOneBlock)).toBeGreaterThan(0);
    expect((await readAll(rig.database)).blocks.length).toBe(before + 1);
    expect(await isHeadKept()).toBe(true);
  });

  it('that a crash left without its object gets it in the next pass', async () => {
    await rig.extend();
    await confirmed();
    await anchoredAll();
    await expect(rig.extend(crashAt('chain.committed'))).rejects.toThrow(Crash);
    expect(await isHeadKept()).toBe(false);
    await rig.extend();
    expect(await isHeadKept()).toBe(true);
    await audit();
  });
});

describe('a halted keys log', () => {
  it('ends the making of blocks, which the chain says, until it is resumed', async () => {
    const halt = (reason: string) =>
      running.asOwner(`UPDATE archivist.log SET halted = ${reason} WHERE log_id = '${rig.deployment.keysLog}'`);
    await confirmed();
    await anchoredAll();
    await halt(`'restored'`);
    const before = await readAll(rig.database);
    expect(await rig.extend()).toBe(0);
    expect((await readAll(rig.database)).blocks).toEqual(before.blocks);
    const { database, deployment } = rig;
    const objectStore = fileObjectStore(join(keysDir, 'objects'));
    const looked = () => undefined;
    const watch = await watchChain({ database, deployment, objectStore, logger: createLogger('silent'), looked });
    expect(watch.halted()).toBe('the keys log is halted');
    await halt('NULL');
    await watch.refresh();
    expect(watch.halted()).toBeUndefined();
    await watch.close();
    expect(await rig.extend()).toBeGreaterThan(0);
  });
});

describe('a chain key that is rotated', () => {
  it('signs from then on, in the same chain and the same count', async () => {
    const { keyring } = running.service.parts;
    const { deploymentTenancy: chain } = rig.deployment;
    const before = keyring.chain.address;
    await rotateDeploymentKey(running.service.parts.keys, 'chain');
    expect(keyring.chain.address).not.toBe(before);
    await confirmed();
    await anchoredAll();
    await rig.extend();
    const head = (await rig.database.inTransaction('system', (tx) => findHead(tx, chain)))!;
    expect(headerFields(head.header).miner).toBe(keyring.chain.address.toLowerCase());
    await audit();
  });
});

describe('two processes at once', () => {
  it('make each anchor once and one chain', async () => {
    for (let turn = 0; turn < 3; turn += 1) {
      await confirmed();
      await Promise.all([rig.anchor(), rig.anchor(), rig.anchor()]);
      await Promise.all([rig.extend(), rig.extend(), rig.extend()]);
    }
    await anchoredAll();
    await rig.extend();
    await audit();
  });

  it('never put two blocks upon one parent', async () => {
    const { deploymentTenancy: chain } = rig.deployment;
    await confirmed();
    await rig.extend();
    const blocks = (await readAll(rig.database)).blocks;
    const [parent, head] = blocks.slice(-2).map((row) => ({ number: row.block_number, hash: row.block_hash, ...row }));
    const put = (number: bigint) => {
      const another = blockOf({
        number,
        parentHash: parent!.hash,
        miner: new Uint8Array(20),
        transactions: [],
        timestamp: 1n,
        extraData: new Uint8Array(),
      });
      return rig.database.inTransaction('system', (tx) =>
        appendBlock(tx, chain, parent, { ...another, nextNonce: 0n }),
      );
    };
    // The numbers of another extension, of an open fork, and of a block that an open fork was to pass over.
    for (const number of [head!.number, head!.number + 1n, head!.number + 5n]) expect(await put(number)).toBe(false);
    expect((await readAll(rig.database)).blocks).toEqual(blocks);
    await audit();
  });
});

describe('the audit of anchors', () => {
  /** @param lostAt the database is lost before the transaction of this number */
  const audited = async (lostAt = Number.POSITIVE_INFINITY) => {
    const { database, deployment } = rig;
    let begun = 0;
    const losing: typeof database = {
      ...database,
      inTransaction: (scope, work) => {
        begun += 1;
        if (begun < lostAt) return database.inTransaction(scope, work);
        return Promise.reject(Object.assign(new Error('terminating connection'), { code: '57P01' }));
      },
    };
    const fault = (_: string, what: string): never => {
      throw new Error(what);
    };
    await auditAnchors({
      database: losing,
      deployment,
      objectStore: fileObjectStore(keysDir),
      fault,
      stopping: () => false,
    });
    return begun;
  };

  it('ends without a fault where the database is lost, wherever that is', async () => {
    await confirmed();
    await anchoredAll();
    const begun = await audited();
    for (let lostAt = 1; lostAt <= begun; lostAt += 1)
      await expect(audited(lostAt)).rejects.toThrow('terminating connection');
  });
});

describe('a database that is older than its chain', () => {
  const REASON = 'restored from an older copy';
  const faults = async () => {
    const found: string[] = [];
    const { database, deployment } = rig;
    const { keyring } = running.service.parts;
    await auditChain({
      database,
      deployment,
      keyring,
      objectStore: objects(),
      fault: (_, what) => void found.push(what),
    });
    return found;
  };
  const objects = () => fileObjectStore(join(keysDir, 'objects'));
  const forkDeps = () => {
    const { database, deployment, keyring, clock } = running.service.parts;
    return { database, deployment, keyring, clock, objectStore: objects(), logger: createLogger('silent') };
  };

  type Row = Awaited<ReturnType<typeof readAll>>['blocks'][number];
  const lose = async ({ block_number: number }: Row) => {
    await running.asOwner(`DELETE FROM archivist.chain_block WHERE block_number = ${number}`);
    await running.asOwner(`DELETE FROM archivist.chain_transaction WHERE block_number = ${number}`);
  };
  /** As after a restore of a copy that is one block older than the object store. */
  const loseNewestBlock = async (): Promise<Row> => {
    await confirmed();
    await anchoredAll();
    await rig.extend();
    const newest = (await readAll(rig.database)).blocks.at(-1)!;
    await lose(newest);
    return newest;
  };

  it('goes on after an open fork, under a number that no block had, and says what was lost', async () => {
    await confirmed();
    await anchoredAll();
    await rig.extend();
    const before = (await readAll(rig.database)).blocks;
    const [known, lost] = before.slice(-2) as [(typeof before)[number], (typeof before)[number]];
    await expect(forkChain(forkDeps(), { confirm: 'chain', reason: REASON })).rejects.toThrow(/is not older/);
    await lose(lost);
    expect(await faults()).toEqual([expect.stringMatching(/the database is older/)]);
    await expect(rig.extend()).rejects.toThrow(/is not extended/);
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
      signer: running.service.parts.keyring.chain.address,
    });
    await watch.refresh();
    await watch.close();
    expect([watch.halted(), looks[0], looks.at(-1)]).toEqual([undefined, true, false]);
    expect(await rig.extend()).toBeGreaterThan(0);
    expect(await faults()).toEqual([]);
    const asked = await owner.get(`/archivist/v1/archivistnode/block?number=${lost.block_number}`);
    expect([asked.status, asked.json['description']]).toEqual([
      404,
      expect.stringContaining('was lost with a database'),
    ]);
  });

  it('is not reported if another process adds a block between two looks', async () => {
    await confirmed();
    await anchoredAll();
    await rig.extend();
    await confirmed();
    await anchoredAll();
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
          if (looks === 1) added = await rig.extend();
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
    expect(await rig.extend()).toBeGreaterThan(0);
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
    expect(await isBlockKept(deps.objectStore, rig.deployment.deploymentTenancy, unused)).toBe(true);
    expect((await readAll(rig.database)).blocks.at(-1)!.block_number).toBe(lost.block_number - 1n);

    const { finding, head } = await forkChain(deps, { confirm: 'chain', reason: REASON });
    expect([finding, head.number, readChainFork(head)!.lastNumber]).toEqual(['consistent', unused + 1n, unused]);
    expect(await rig.extend()).toBeGreaterThan(0);
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
    expect((await readAll(rig.database)).blocks.at(-1)!.block_number).toBe(lost.block_number + 1n);
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
    const numbers = (await readAll(rig.database)).blocks.map(({ block_number: number }) => number);
    expect(numbers).toContain(lost.block_number + 1n);
    expect(numbers).not.toContain(lost.block_number);
    expect(await faults()).toEqual([]);
  });

  it('is a fault of the audit without the signed fork, and with one that names another block', async () => {
    const { blocks } = await readAll(rig.database);
    const place = blocks.findIndex(({ block_number: number, header }) => readChainFork({ number, header }));
    const [parent, block] = blocks.slice(place - 1) as [(typeof blocks)[number], (typeof blocks)[number]];
    const { chain: key } = running.service.parts.keyring;
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
        running.asOwner(
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
    const name = `blocks/${rig.deployment.deploymentTenancy}/${fork.lastNumber.toString().padStart(16, '0')}`;
    const kept = (await objects().get(name))!;
    await objects().remove(name);
    expect((await faults()).join('; ')).toMatch(/names block \d+, which is not in the object store/);
    await objects().put(name, kept);
    const moved = await signChainFork(fork, new Uint8Array(32), key);
    expect(await auditedWith(moved)).toMatch(/not signed by the key that made the block/);
    expect(await faults()).toEqual([]);
  });

  it('has a fault in its audit for a transaction that its sender did not sign, and for a block of a strange key', async () => {
    await confirmed();
    await anchoredAll();
    await rig.extend();
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
    const block = (await readAll(rig.database)).blocks.at(-1)!;
    const number = block.block_number;
    const rows = await rig.database.inTransaction('system', (tx) => transactionRows(tx, number, number));
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
        await running.asOwner(
          `UPDATE archivist.chain_transaction SET signed = '\\x${toHex(signed)}', transaction_hash = '\\x${toHex(hash)}',
             sender = '${sender}' WHERE block_number = ${number} AND transaction_index = ${place}`,
        );
      await running.asOwner(
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
    await confirmed();
    await anchoredAll();
    await rig.extend();
    const { blocks } = await readAll(rig.database);
    const last = blocks.at(-1)!.block_number;
    await running.asOwner(`DELETE FROM archivist.chain_block WHERE block_number = ${last}`);
    await running.asOwner(`DELETE FROM archivist.chain_transaction WHERE block_number = ${last}`);
    await expect(rig.extend()).rejects.toThrow(/is not extended/);
    expect((await readAll(rig.database)).blocks.length).toBe(blocks.length - 1);
    const { deploymentTenancy: chain } = rig.deployment;
    await running.asOwner(`UPDATE archivist.chain_block SET header = '\\x00' WHERE block_number = ${last - 1n}`);
    await expect(rig.extend()).rejects.toThrow(/another block/);
    const watch = await watchChain({ ...forkDeps(), looked: () => undefined });
    await watch.close();
    expect(watch.halted()).toBe(`the object store has another block ${last - 1n} than the database`);
    expect((await rig.database.inTransaction('system', (tx) => findHead(tx, chain)))!.number).toBe(last - 1n);
  });
});
