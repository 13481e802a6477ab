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
beforeAll(async () => {
  service = await startAnchoredService();
});
afterAll(() => service?.close());

const scope = () => ({ read: [service.tenantId], write: [service.tenantId] });

/** Records an event while its window is already closed until a moment that is still to come when it is answered. */
const recordBeforeEnd = async () => {
  // The first that a busy machine keeps.
  for (let aheadMs = 1_500; ; aheadMs *= 2) {
    const future = new Date(Date.now() + aheadMs);
    await service.running.asOwner(
      `UPDATE archivist.anchor_window SET closed_until = '${future.toISOString()}' WHERE tenant_id = '${service.tenantId}'`,
    );
    const { json: event } = await service.record();
    if (Date.now() < future.getTime()) return { future, event };
  }
};
/** What must hold of the chain whatever has happened to those who wrote it. */
const audit = async () => {
  const { blocks, transactions, anchors, seals } = await readAll(service.rig.database);
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
    await service.anchoredAll();
    const before = await service.rig.database.inTransaction(scope(), (tx) => holdWindowsOpen(tx, [service.tenantId]));
    expect(await service.rig.anchor()).toBe(0);
    expect(await service.rig.database.inTransaction(scope(), (tx) => holdWindowsOpen(tx, [service.tenantId]))).toEqual(
      before,
    );
  });

  it('is closed only when the accepts that are open have ended', async () => {
    await service.confirmed();
    await service.rig.database.inTransaction(scope(), async (tx) => {
      await holdWindowsOpen(tx, [service.tenantId]);
      // On one connection nothing can be open beside it, and nothing may wait for the database inside a transaction.
      if (service.rig.database.connections > 1) expect(await service.rig.anchor()).toBe(0);
    });
    expect(await service.rig.anchor()).toBe(1);
  });

  it('takes no event after it is closed: one accepted by a clock that is behind counts as accepted at its end', async () => {
    await service.confirmed();
    const { future, event } = await recordBeforeEnd();
    expect(event['timestamp_accepted']).toBe(future.toISOString());
    expect(event['timestamp_declared']).toBe(future.toISOString());
    const before = (await readAll(service.rig.database)).anchors.length;
    for (let made = 0; made === 0; ) made = await service.rig.anchor();
    const { anchors, waiting } = await readAll(service.rig.database);
    expect(anchors.length).toBe(before + 1);
    expect(anchors.at(-1)!.end_time).toEqual(future);
    expect(waiting.length).toBe(1);
    await service.anchoredAll();
  });

  it('waits for its anchor until every event in it is confirmed', async () => {
    await service.running.asOwner(
      `UPDATE archivist.log SET halted = 'for a test' WHERE log_id = '${service.tenantId}'`,
    );
    await service.record();
    await service.rig.database.inTransaction(scope(), (tx) => closeWindow(tx, service.tenantId, 0));
    expect(
      await service.rig.database.inTransaction(scope(), (tx) => readyWindow(tx, service.tenantId)),
    ).toBeUndefined();
    expect(await service.rig.anchor()).toBe(0);
    await service.running.asOwner(`UPDATE archivist.log SET halted = NULL WHERE log_id = '${service.tenantId}'`);
    // The service may have seen that the log is halted, and sees within about a second that it is not.
    await until(service.record, ({ status }) => status === 200, 20_000);
    expect((await service.anchoredAll()).waiting).toEqual([]);
  });

  it('holds events of one and the same time once each', async () => {
    const before = (await service.anchoredAll()).anchors.reduce((sum, each) => sum + each.event_count, 0n);
    const items = Array.from({ length: 40 }, () => EVENT);
    const { status } = await service.owner.post(`/archivist/v2/${service.asset}/events:bulk`, { events: items });
    expect(status).toBe(200);
    const { anchors } = await service.anchoredAll();
    expect(anchors.reduce((sum, each) => sum + each.event_count, 0n) - before).toBe(40n);
  });
});

describe('after a crash', () => {
  it.each(['anchor.closed', 'anchor.inside'])('at %s the window is anchored once', async (name) => {
    await service.confirmed();
    const before = (await readAll(service.rig.database)).anchors.length;
    expect(await service.rig.anchor(crashAt(name))).toBe(0);
    expect((await readAll(service.rig.database)).anchors.length).toBe(before);
    await service.anchoredAll();
    expect((await readAll(service.rig.database)).anchors.length).toBe(before + 1);
    await service.rig.extend();
    await audit();
  });

  it.each(['chain.signed', 'chain.inside'])('at %s the chain has every anchor and every seal once', async (name) => {
    await service.confirmed();
    await service.anchoredAll();
    const before = (await readAll(service.rig.database)).blocks.length;
    await expect(service.rig.extend(crashAt(name))).rejects.toThrow(Crash);
    expect((await readAll(service.rig.database)).blocks.length).toBe(before);
    await service.rig.extend();
    await audit();
  });
});

describe('a new block', () => {
  const isHeadKept = async () => {
    const { block_number: number } = (await readAll(service.rig.database)).blocks.at(-1)!;
    return isBlockKept(fileObjectStore(service.objectsDir), service.rig.deployment.deploymentTenancy, number);
  };

  it('is in the object store when its pass ends, also of one that is stopped', async () => {
    await service.confirmed();
    await service.anchoredAll();
    const before = (await readAll(service.rig.database)).blocks.length;
    let looks = 0;
    const afterOneBlock = () => looks++ > 0;
    expect(await service.rig.extend(noFailpoints, afterOneBlock)).toBeGreaterThan(0);
    expect((await readAll(service.rig.database)).blocks.length).toBe(before + 1);
    expect(await isHeadKept()).toBe(true);
  });

  it('that a crash left without its object gets it in the next pass', async () => {
    await service.rig.extend();
    await service.confirmed();
    await service.anchoredAll();
    await expect(service.rig.extend(crashAt('chain.committed'))).rejects.toThrow(Crash);
    expect(await isHeadKept()).toBe(false);
    await service.rig.extend();
    expect(await isHeadKept()).toBe(true);
    await audit();
  });
});

describe('a halted keys log', () => {
  it('ends the making of blocks, which the chain says, until it is resumed', async () => {
    const halt = (reason: string) =>
      service.running.asOwner(
        `UPDATE archivist.log SET halted = ${reason} WHERE log_id = '${service.rig.deployment.keysLog}'`,
      );
    await service.confirmed();
    await service.anchoredAll();
    await halt(`'restored'`);
    const before = await readAll(service.rig.database);
    expect(await service.rig.extend()).toBe(0);
    expect((await readAll(service.rig.database)).blocks).toEqual(before.blocks);
    const { database, deployment } = service.rig;
    const objectStore = fileObjectStore(service.objectsDir);
    const looked = () => undefined;
    const watch = await watchChain({ database, deployment, objectStore, logger: createLogger('silent'), looked });
    expect(watch.halted()).toBe('the keys log is halted');
    await halt('NULL');
    await watch.refresh();
    expect(watch.halted()).toBeUndefined();
    await watch.close();
    expect(await service.rig.extend()).toBeGreaterThan(0);
  });
});

describe('a chain key that is rotated', () => {
  it('signs from then on, in the same chain and the same count', async () => {
    const { keyring } = service.running.service.parts;
    const { deploymentTenancy: chain } = service.rig.deployment;
    const before = keyring.chain.address;
    await rotateDeploymentKey(service.running.service.parts.keys, 'chain');
    expect(keyring.chain.address).not.toBe(before);
    await service.confirmed();
    await service.anchoredAll();
    await service.rig.extend();
    const head = (await service.rig.database.inTransaction('system', (tx) => findHead(tx, chain)))!;
    expect(headerFields(head.header).miner).toBe(keyring.chain.address.toLowerCase());
    await audit();
  });
});

describe('two processes at once', () => {
  it('make each anchor once and one chain', async () => {
    for (let turn = 0; turn < 3; turn += 1) {
      await service.confirmed();
      await Promise.all([service.rig.anchor(), service.rig.anchor(), service.rig.anchor()]);
      await Promise.all([service.rig.extend(), service.rig.extend(), service.rig.extend()]);
    }
    await service.anchoredAll();
    await service.rig.extend();
    await audit();
  });

  it('never put two blocks upon one parent', async () => {
    const { deploymentTenancy: chain } = service.rig.deployment;
    await service.confirmed();
    await service.rig.extend();
    const blocks = (await readAll(service.rig.database)).blocks;
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
      return service.rig.database.inTransaction('system', (tx) =>
        appendBlock(tx, chain, parent, { ...another, nextNonce: 0n }),
      );
    };
    // The numbers of another extension, of an open fork, and of a block that an open fork was to pass over.
    for (const number of [head!.number, head!.number + 1n, head!.number + 5n]) expect(await put(number)).toBe(false);
    expect((await readAll(service.rig.database)).blocks).toEqual(blocks);
    await audit();
  });
});

describe('the audit of anchors', () => {
  /** @param lostAt the database is lost before the transaction of this number */
  const audited = async (lostAt = Number.POSITIVE_INFINITY) => {
    const { database, deployment } = service.rig;
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
    await service.confirmed();
    await service.anchoredAll();
    const begun = await audited();
    for (let lostAt = 1; lostAt <= begun; lostAt += 1)
      await expect(audited(lostAt)).rejects.toThrow('terminating connection');
  });
});
