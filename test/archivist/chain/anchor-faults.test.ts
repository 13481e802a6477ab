import { RLP } from '@ethereumjs/rlp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditAnchors } from '../../../src/archivist/audit/audit-anchors.js';
import { closeWindow, holdWindowsOpen, readyWindow } from '../../../src/archivist/chain/anchor-store.js';
import { blockOf, headerFields } from '../../../src/archivist/chain/block.js';
import { appendBlock, findHead } from '../../../src/archivist/chain/chain-store.js';
import { isBlockKept } from '../../../src/archivist/chain/kept-blocks.js';
import { watchChain } from '../../../src/archivist/chain/watch-chain.js';
import { rotateDeploymentKey } from '../../../src/archivist/operator/manage-keys.js';
import { hexData, numberOf } from '../../../src/archivist/quantity.js';
import { noFailpoints } from '../../../src/ledger/failpoints.js';
import { fileObjectStore } from '../../../src/platform/file-object-store.js';
import { createLogger } from '../../../src/platform/logger.js';
import { until } from '../../api/test-service.js';
import { Crash, crashAt, readAll } from './anchor-rig.js';
import { type AnchoredService, EVENT, startAnchoredService } from './anchored-service.js';

let service: AnchoredService;
let running: AnchoredService['running'];
let owner: AnchoredService['owner'];
let rig: AnchoredService['rig'];
let asset: AnchoredService['asset'];
let tenantId: AnchoredService['tenantId'];
let record: AnchoredService['record'];
let confirmed: AnchoredService['confirmed'];
let anchoredAll: AnchoredService['anchoredAll'];
beforeAll(async () => {
  service = await startAnchoredService();
  ({ running, owner, rig, asset, tenantId, record, confirmed, anchoredAll } = service);
});
afterAll(() => service?.close());

const scope = () => ({ read: [tenantId], write: [tenantId] });

/** Records an event while its window is already closed until a moment that is still to come when it is answered. */
const recordBeforeEnd = async () => {
  // The first that a busy machine keeps.
  for (let aheadMs = 1_500; ; aheadMs *= 2) {
    const future = new Date(Date.now() + aheadMs);
    await running.asOwner(
      `UPDATE archivist.anchor_window SET closed_until = '${future.toISOString()}' WHERE tenant_id = '${tenantId}'`,
    );
    const { json: event } = await record();
    if (Date.now() < future.getTime()) return { future, event };
  }
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
    await until(record, ({ status }) => status === 200, 20_000);
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
    return isBlockKept(fileObjectStore(service.objectsDir), rig.deployment.deploymentTenancy, number);
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
    const objectStore = fileObjectStore(service.objectsDir);
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
      objectStore: fileObjectStore(service.objectsDir),
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
