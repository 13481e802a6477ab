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
});
