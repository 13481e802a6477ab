import { setTimeout as wait } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createBacklog } from '../../src/ledger/backlog.js';
import { ApiError } from '../../src/platform/errors.js';
import { engines } from '../support/engines.js';
import { type Opened, openEngine } from './test-engines.js';

describe.each(engines())('the backlog on %s', (engine) => {
  let opened: Opened;
  beforeAll(async () => {
    opened = await openEngine(engine);
  });
  afterAll(() => opened.close());

  it('refuses writes with 503 and Retry-After at its limit, not before, and accepts them again below it', async () => {
    const rig = opened.rig();
    const log = await rig.newLog('MMR_SHA256');
    let counted = -1;
    const waiting = (entries: number): void => {
      counted = entries;
    };
    const logger = pino({ level: 'silent' });
    const backlog = createBacklog({ database: rig.database, limit: 3, logger, waiting });
    backlog.start();
    try {
      await rig.accept(log, 'asset_event', 2);
      await vi.waitFor(() => expect(counted).toBe(2), 20_000);
      expect(() => backlog.admit()).not.toThrow();

      await rig.accept(log, 'asset_event', 5);
      await vi.waitFor(() => expect(counted).toBe(3), 20_000);
      const refusal = (): unknown => {
        try {
          return backlog.admit();
        } catch (error) {
          return error;
        }
      };
      const refused = refusal() as ApiError;
      expect(refused).toBeInstanceOf(ApiError);
      expect([refused.status, refused.headers['retry-after']]).toEqual([503, '5']);

      await rig.drain(log);
      await vi.waitFor(() => expect(counted).toBe(0), 20_000);
      expect(() => backlog.admit()).not.toThrow();
    } finally {
      await backlog.stop();
    }
  });

  it('is counted again within seconds after a count that had to wait for a busy machine', async () => {
    const { database } = opened.rig();
    let counts = 0;
    const slow: typeof database = {
      ...database,
      async inTransaction(...transaction) {
        await wait(1_000);
        return database.inTransaction(...transaction);
      },
    };
    const waiting = (): void => {
      counts += 1;
    };
    const backlog = createBacklog({ database: slow, limit: 3, logger: pino({ level: 'silent' }), waiting });
    backlog.start();
    try {
      await vi.waitFor(() => expect(counts).toBeGreaterThanOrEqual(2), 15_000);
    } finally {
      await backlog.stop();
    }
  });
});
