import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { insertTenancy } from '../../../src/iam/tenancies/tenancy-store.js';
import { listKeyManifests } from '../../../src/platform/keys/manifest/key-manifest-store.js';
import { engines, type TestDatabase } from '../../support/engines.js';

let opened: TestDatabase;
beforeAll(async () => {
  opened = await engines().at(-1)!.open();
});
afterAll(() => opened?.close());

it('key manifests are listed to the last one, however many there are', async () => {
  const tenantId = randomUUID();
  const about = { displayName: '', verifiedDomain: '', walletAddress: tenantId, createdAt: new Date() };
  await opened.database.inTransaction('system', (tx) =>
    insertTenancy(tx, { tenantId, kind: 'organisation', ...about }),
  );
  await opened.asOwner(
    `INSERT INTO archivist.key_manifest (tenant_id, number, entry_id, manifest)
     SELECT $1, number, gen_random_uuid(), '\\x00' FROM generate_series(1, 1001) number`,
    [tenantId],
  );
  const list = (from: bigint, limit?: number) =>
    opened.database.inTransaction('system', async (tx) =>
      (await listKeyManifests(tx, tenantId, from, limit)).map(({ number }) => number),
    );
  expect(await list(1n)).toEqual(Array.from({ length: 1001 }, (_, place) => BigInt(place + 1)));
  expect(await list(1000n, 1)).toEqual([1000n]);
});
