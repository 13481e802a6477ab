import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AcceptWriter, createAcceptWriter } from '../../../src/archivist/accept/accept-writer.js';
import type { Submission } from '../../../src/archivist/accept/submission.js';
import { findAssets, pastStates } from '../../../src/archivist/assets/asset-store.js';
import type { AssetEvent } from '../../../src/archivist/events/asset-event.js';
import { OWNER_ROLE } from '../../../src/iam/access/owner-and-creator.js';
import { noFailpoints } from '../../../src/ledger/failpoints.js';
import { createIds } from '../../../src/platform/ids.js';
import { engines, type TestDatabase } from '../../support/engines.js';
import { holdLock } from '../../support/hold-lock.js';

const EVER = new Date('2100-01-01T00:00:00Z');
const DAY_MS = 86_400_000;

describe.each(engines())('changes of an asset by processes whose clocks differ, on %s', (engine) => {
  let opened: TestDatabase;
  beforeAll(async () => {
    opened = await engine.open();
  });
  afterAll(() => opened?.close());

  const tenantId = randomUUID();
  const principal = {
    tenantId,
    issuer: 'i',
    subject: 's',
    displayName: 'n',
    email: '',
    roles: [OWNER_ROLE],
    claims: {},
  };
  const deployment = {
    deploymentTenancy: randomUUID(),
    publicTenancy: randomUUID(),
    publicStatementLog: randomUUID(),
    privateStatementLog: randomUUID(),
    keysLog: randomUUID(),
  };

  /** A process whose clock is ahead by so much. */
  function process(aheadMs: number): AcceptWriter {
    const clock = { now: () => Date.now() + aheadMs };
    return createAcceptWriter({
      database: opened.database,
      deployment,
      clock,
      ids: createIds(clock),
      quotas: {},
      failpoints: noFailpoints,
      metrics: { accepted: () => {}, batchAccepted: () => {} },
      halted: () => false,
      wallets: new Map([[tenantId, '0x0']]),
      statementAssets: new Map(),
      admit: () => {},
      nudge: () => {},
      prepare: () => () => {},
    });
  }

  async function newAsset(writer: AcceptWriter, isPublic = false): Promise<string> {
    const made = await writer.accept({
      kind: 'asset',
      principal,
      attributes: { colour: 'none' },
      behaviours: [],
      proofMechanism: 'MERKLE_LOG',
      public: isPublic,
    });
    if (made.kind !== 'asset') throw new Error(`accepted as ${made.kind}`);
    return made.asset.assetId;
  }

  const painting = (assetId: string, colour: string): Submission => ({
    kind: 'asset_event',
    principal,
    assetId,
    operation: 'Record',
    behaviour: 'RecordEvidence',
    eventAttributes: {},
    assetAttributes: { colour },
  });

  async function paint(writer: AcceptWriter, assetId: string, colour: string): Promise<AssetEvent> {
    const accepted = await writer.accept(painting(assetId, colour));
    if (accepted.kind !== 'asset_event') throw new Error(`accepted as ${accepted.kind}`);
    return accepted.event;
  }

  /** What the asset's row has, and what its events lead to. */
  function colours(assetId: string, owner = tenantId): Promise<unknown[]> {
    return opened.database.inTransaction('system reading', async (tx) => {
      const [asset] = await findAssets(tx, [{ tenantId: owner, assetId }]);
      const [state] = await pastStates(tx, [{ tenantId: owner, assetId, until: EVER }]);
      return [asset?.attributes['colour'], state?.attributes['colour']];
    });
  }

  it.each([
    ['private', 3_000, false],
    ['public', 3_000, true],
    ['private', DAY_MS, false],
  ])('count in the order in which they were accepted: a %s asset, %i ms', async (_kind, aheadMs, isPublic) => {
    const [ahead, right] = [process(aheadMs), process(0)];
    const asset = await newAsset(ahead, isPublic);
    const red = await paint(ahead, asset, 'red');
    const blue = await paint(right, asset, 'blue');
    expect(blue.eventId > red.eventId).toBe(true);
    expect(await colours(asset)).toEqual(['blue', 'blue']);
    if (isPublic) expect(await colours(asset, deployment.publicTenancy)).toEqual(['blue', 'blue']);
    const both = await right.acceptTogether([painting(asset, 'green'), painting(asset, 'grey')]);
    expect(both.map((each) => 'accepted' in each)).toEqual([true, true]);
    expect(await colours(asset)).toEqual(['grey', 'grey']);
  });

  it('are dated after each other if the clocks differ as little as is permitted, and by the own clock otherwise', async () => {
    const [far, ahead, right] = [process(DAY_MS), process(3_000), process(0)];
    const asset = await newAsset(ahead);
    const red = await paint(ahead, asset, 'red');
    const blue = await paint(right, asset, 'blue');
    expect(blue.acceptedAt.getTime()).toBeGreaterThanOrEqual(red.acceptedAt.getTime());
    await paint(far, asset, 'green');
    const grey = await paint(right, asset, 'grey');
    expect(grey.acceptedAt.getTime()).toBeLessThan(Date.now() + 1_000);
  });

  it.skipIf(engine.name === 'embedded PostgreSQL')(
    'count in the order in which they were accepted if they are made at the same time',
    async () => {
      const [ahead, right] = [process(3_000), process(0)];
      const asset = await newAsset(right);
      const lock = await holdLock(
        opened.environment.DATABASE_URL!,
        'SELECT FROM archivist.asset WHERE asset_id = $1 FOR NO KEY UPDATE',
        [asset],
      );
      const waits = (count: number) => expect.poll(() => lock.waiting()).toBe(count);
      const red = paint(ahead, asset, 'red');
      await waits(1);
      const blue = paint(right, asset, 'blue');
      await waits(2);
      await lock.release();
      await Promise.all([red, blue]);
      const [now, replayed] = await colours(asset);
      expect(now).toBe(replayed);
    },
  );
});
