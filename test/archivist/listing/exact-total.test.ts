import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { countAssetEvents } from '../../../src/archivist/events/asset-event-store.js';
import { condition, meaning } from '../../../src/platform/listing/condition.js';
import { engines, type TestDatabase } from '../../support/engines.js';
import { growTenancy } from './grown-tenancy.js';

const EVENTS = 300;
const tenantId = '0190a8c0-0000-7000-8000-00000000002c';
const OF_TENANCY = [meaning({ kind: 'tenancy', tenantId }, condition('e.tenant_id = ?', tenantId))];

describe.each(engines())('the total of a list, on %s', (engine) => {
  let opened: TestDatabase;
  beforeAll(async () => {
    opened = await engine.open();
    await growTenancy(opened, { tenantId, events: EVENTS, start: Date.parse('2026-01-01T00:00:00Z') });
  });
  afterAll(() => opened?.close());

  it.each([
    [
      'an exact one has the memory for every row that an index finds, not only for the pages they are on',
      undefined,
      '128MB',
    ],
    ['one that stops at a limit has no more than usual', 1001, '64kB'],
  ])('%s', async (_, limit, memory) => {
    await opened.database.inTransaction({ read: [tenantId], write: [] }, async (tx) => {
      await tx.query("SELECT set_config('work_mem', '64kB', true)");
      expect(await countAssetEvents(tx, OF_TENANCY, limit)).toEqual({ total: EVENTS });
      expect(await tx.query('SHOW work_mem')).toEqual([{ work_mem: memory }]);
    });
    expect(await opened.database.inTransaction('system', (tx) => tx.query('SHOW work_mem'))).not.toEqual([
      { work_mem: '128MB' },
    ]);
  });
});
