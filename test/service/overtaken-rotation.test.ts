import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rotateDeploymentKey, rotateRoot } from '../../src/archivist/operator/manage-keys.js';
import type { Database } from '../../src/platform/postgres/database.js';
import { startTestService, type TestService } from '../api/test-service.js';

let running: TestService;
beforeAll(async () => {
  running = await startTestService();
});
afterAll(() => running?.close());

/** The database, slow for its first caller: a change comes before. */
function overtaken(database: Database, change: () => Promise<unknown>): Database {
  let begun = false;
  const inTransaction: Database['inTransaction'] = async (scope, work) => {
    if (!begun) {
      begun = true;
      await change();
    }
    return database.inTransaction(scope, work);
  };
  return Object.create(database, { inTransaction: { value: inTransaction } }) as Database;
}

describe('the rotation of a key', () => {
  it('that is overtaken by another root key is a conflict, and can be repeated', async () => {
    const { keys, database } = running.service.parts;
    const slow = { ...keys, database: overtaken(database, () => rotateRoot(keys)) };
    await expect(rotateDeploymentKey(slow, 'note')).rejects.toMatchObject({ code: 'conflict' });
    await expect(rotateDeploymentKey(keys, 'note')).resolves.toMatchObject({ active: { role: 'note' } });
  });
});
