import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { warnExpiringSecrets } from '../../src/iam/applications/warn-expiring-secrets.js';
import { createLogger } from '../../src/platform/logger.js';
import { startTestService, type TestService } from '../api/test-service.js';

const DAY_MS = 24 * 60 * 60 * 1000;

let running: TestService;
beforeAll(async () => {
  running = await startTestService();
});
afterAll(() => running?.close());

async function warned(daysFromNow: number): Promise<{ counted: number; lines: string[] }> {
  const lines: string[] = [];
  let counted = -1;
  const { database } = running.service.parts;
  await warnExpiringSecrets({
    database,
    clock: { now: () => Date.now() + daysFromNow * DAY_MS },
    logger: createLogger('warn', { destination: { write: (line) => lines.push(line) } }),
    metrics: { expiringSecrets: (applications) => (counted = applications) },
  });
  return { counted, lines };
}

describe('credentials of an application', () => {
  it('are warned of from thirty days before the last one expires, until it has', async () => {
    expect(await warned(330)).toEqual({ counted: 0, lines: [] });
    const soon = await warned(340);
    expect(soon.counted).toBe(1);
    expect(soon.lines.join()).toContain(running.owner.clientId);
    expect(soon.lines.join()).not.toContain(running.ownerSecret);
    expect((await warned(370)).counted).toBe(0);
  });

  it('are not warned of when a newer one lasts', async () => {
    const made = await running.client({});
    const later = new Date(Date.now() + 700 * DAY_MS).toISOString();
    await running.asOwner(
      `UPDATE archivist.application_credential SET valid_until = '${later}' WHERE application_id = '${made.clientId}'`,
    );
    expect((await warned(340)).counted).toBe(1);
  });
});
