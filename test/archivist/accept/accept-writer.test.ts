import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AcceptWriter, createAcceptWriter } from '../../../src/archivist/accept/accept-writer.js';
import type { Submission } from '../../../src/archivist/accept/submission.js';
import { noFailpoints } from '../../../src/ledger/failpoints.js';
import { systemClock } from '../../../src/platform/clock.js';
import { createIds } from '../../../src/platform/ids.js';
import { engines, type TestDatabase } from '../../support/engines.js';

const FOREVER_MS = 600_000;

describe.each(engines())('batches of submissions on %s', (engine) => {
  let opened: TestDatabase;
  beforeAll(async () => {
    opened = await engine.open();
  });
  afterAll(() => opened?.close());

  /** A writer, and the sizes of the batches that it has written. */
  function writing(mostGatherMs: number): { writer: AcceptWriter; sizes: number[] } {
    const sizes: number[] = [];
    const [deploymentTenancy, publicTenancy, publicStatementLog, privateStatementLog, keysLog] = Array.from(
      { length: 5 },
      () => randomUUID(),
    ) as [string, string, string, string, string];
    const writer = createAcceptWriter({
      database: opened.database,
      deployment: { deploymentTenancy, publicTenancy, publicStatementLog, privateStatementLog, keysLog },
      clock: systemClock,
      ids: createIds(systemClock),
      quotas: {},
      failpoints: noFailpoints,
      metrics: { accepted: () => {}, batchAccepted: (size) => sizes.push(size) },
      halted: () => false,
      wallets: new Map(),
      statementAssets: new Map(),
      admit: () => {},
      nudge: () => {},
      mostGatherMs,
    });
    return { writer, sizes };
  }

  /** Of a tenancy that does not exist: it is refused, and its batch is counted like any other. */
  function submission(): Submission {
    const names = { issuer: 'i', subject: 's', displayName: 'n', email: '', roles: [], claims: {} };
    const principal = { tenantId: randomUUID(), ...names };
    return { kind: 'asset_free_event', principal, attributes: {}, trails: [], eventType: '' };
  }

  const turns = async (count: number): Promise<void> => {
    for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  };

  it('wait for the submissions that are announced, and not for others', async () => {
    const { writer, sizes } = writing(FOREVER_MS);
    const [second, refused] = [writer.expect(), writer.expect()];
    const first = writer.acceptTogether([submission()]);
    await turns(5);
    refused();
    await turns(5);
    expect(sizes).toEqual([]);
    const both = [first, writer.acceptTogether([submission()])];
    second();
    await Promise.all(both);
    expect(sizes).toEqual([2]);
    await writer.acceptTogether([submission()]);
    expect(sizes).toEqual([2, 1]);
  });

  it('wait a limited time, and not at all when they are full', async () => {
    const limited = writing(1);
    limited.writer.expect();
    await limited.writer.acceptTogether([submission()]);
    const full = writing(FOREVER_MS);
    full.writer.expect();
    await full.writer.acceptTogether(Array.from({ length: 200 }, submission));
    expect([limited.sizes, full.sizes]).toEqual([[1], [200]]);
  });
});
