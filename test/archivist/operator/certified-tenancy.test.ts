import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTenancy } from '../../../src/archivist/operator/manage-tenancies.js';
import { publicJwk } from '../../../src/core/cose/public-key.js';
import { verifyTenancyKey } from '../../../src/core/keys/tenancy-key-certificate.js';
import { createLogger } from '../../../src/platform/logger.js';
import type { Database } from '../../../src/platform/postgres/database.js';
import { rotateElsewhere } from '../../api/rotate-elsewhere.js';
import { startTestService, type TestService } from '../../api/test-service.js';

let running: TestService;
beforeAll(async () => {
  running = await startTestService();
});
afterAll(() => running?.close());

function openIn(database: Database) {
  const { keys, keyring, ...parts } = running.service.parts;
  const deps = {
    ...parts,
    ...keys,
    database,
    pepper: keyring.pepper,
    massifHeight: 14,
    logger: createLogger('silent'),
  };
  return openTenancy(deps, { displayName: 'Another', verifiedDomain: '' });
}

/** The certificates of the keys of a tenancy. */
async function certificatesOf(tenancy: Record<string, unknown>): Promise<Uint8Array[]> {
  const tenantId = String(tenancy['identity']).slice('tenancies/'.length);
  const rows = await running.service.parts.database.inTransaction('system', (tx) =>
    tx.query<{ certificate: Uint8Array }>('SELECT certificate FROM archivist.signing_key WHERE tenant_id = $1', [
      tenantId,
    ]),
  );
  return rows.map(({ certificate }) => certificate);
}

it('a tenancy is not created while another process revokes the issuer key, and then certified by the new one', async () => {
  const { database, keys } = running.service.parts;
  let begun = 0;
  const inTransaction: Database['inTransaction'] = async (scope, work) => {
    begun += 1;
    if (begun === 1) await rotateElsewhere(running, 'issuer', true);
    return database.inTransaction(scope, work);
  };
  const slow = Object.create(database, { inTransaction: { value: inTransaction } }) as Database;
  await expect(openIn(slow)).rejects.toMatchObject({ code: 'unavailable' });
  const certificates = await certificatesOf(await openIn(database));
  const active = keys.manifests.current.manifest.keys.filter(
    ({ role, state }) => role === 'issuer' && state === 'active',
  );
  const issuers = active.map(({ jwk }) => publicJwk(jwk));
  expect(certificates).toHaveLength(2);
  for (const certificate of certificates) await verifyTenancyKey(certificate, issuers);
});
