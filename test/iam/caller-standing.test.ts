import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OWNER_ROLE } from '../../src/iam/access/owner-and-creator.js';
import { type ClientAddress, raiseEpoch } from '../../src/iam/applications/standing-store.js';
import { createCallerStanding } from '../../src/iam/tokens/caller-standing.js';
import type { Database } from '../../src/platform/postgres/database.js';
import { readCredentials } from '../../src/service/first-credentials.js';
import { startTestService, type TestService } from '../api/test-service.js';
import { engines } from '../support/engines.js';

let running: TestService;
let tenantId: string;
beforeAll(async () => {
  running = await startTestService({}, engines()[0]);
  tenantId = (await readCredentials(running.environment.DATA_DIR))!.tenant_identity.slice('tenant/'.length);
});
afterAll(() => running?.close());

async function newClient(roles: string[]): Promise<ClientAddress> {
  return { tenantId, clientId: (await running.client({ roles })).clientId };
}

/** The service's database, with a count of the transactions; `fails` makes the next ones fail before they begin. */
function counted(): { database: Database; begun: () => number; fails: (reason: Error | undefined) => void } {
  let begun = 0;
  let failure: Error | undefined;
  const { database } = running.service.parts;
  return {
    database: {
      ...database,
      readAtOnce: async (scope, work) => {
        begun += 1;
        if (failure) throw failure;
        return database.readAtOnce(scope, work);
      },
    },
    begun: () => begun,
    fails: (reason) => {
      failure = reason;
    },
  };
}

describe('what a client may do now', () => {
  it('is read once for all requests of one turn, and each client gets its own', async () => {
    const [owner, nobody] = [await newClient([OWNER_ROLE]), await newClient([])];
    const { database, begun } = counted();
    const standing = createCallerStanding(database);
    const asked = Array.from({ length: 60 }, (_, place) => (place % 2 === 0 ? owner : nobody));
    const found = await Promise.all(asked.map(standing));
    expect(begun()).toBe(1);
    expect(found.map(({ roles }) => roles)).toEqual(asked.map((each) => (each === owner ? [OWNER_ROLE] : [])));
  });

  it('is read after the request: a revocation that was committed before it is seen', async () => {
    const client = await newClient([OWNER_ROLE]);
    const standing = createCallerStanding(running.service.parts.database);
    const before = await standing(client);
    await running.service.parts.database.inTransaction('system', (tx) => raiseEpoch(tx, client));
    expect((await standing(client)).epoch).toBe(before.epoch + 1);
  });

  it('is read with a plan that was made before, by the keys of the clients however few there were', async () => {
    const { database } = running.service.parts;
    const client = await newClient([OWNER_ROLE]);
    const standing = createCallerStanding(database);
    await running.asOwner('ANALYZE archivist.application, archivist.token_epoch');
    for (let count = 0; count < 10; count += 1) await standing(client);
    const scope = { system: 'writing' as const, settings: { plan_cache_mode: 'force_generic_plan' } };
    // Of one session, the prepared statements can be seen from another transaction.
    const plan = await database.inTransaction(scope, async (tx) => {
      const [kept] = await tx.query<{ name: string; used_again: bigint; made: bigint }>(
        `SELECT name, generic_plans AS used_again, custom_plans AS made FROM pg_prepared_statements
          WHERE starts_with(statement, 'SELECT (SELECT a.roles ')`,
      );
      expect(kept!.used_again).toBeGreaterThan(0n);
      expect(kept!.made).toBe(0n);
      return tx.query<Record<string, string>>(`EXPLAIN EXECUTE ${kept!.name}('{}', '{}')`);
    });
    const text = plan.map((row) => row['QUERY PLAN']).join('\n');
    // An application's id is unique also without its tenancy.
    expect(text.match(/Index Cond: .*(application_id|client_id) = w\.client_id/g)).toHaveLength(2);
    expect(text).not.toContain('Seq Scan');
  });

  it('is an error for each request that waits while the database fails, and is read again afterwards', async () => {
    const client = await newClient([]);
    const { database, fails } = counted();
    const standing = createCallerStanding(database);
    fails(new Error('no connection'));
    const refused = await Promise.allSettled([standing(client), standing(client)]);
    expect(refused.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    fails(undefined);
    expect((await standing(client)).roles).toEqual([]);
  });
});
