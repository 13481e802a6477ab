import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { recertifyTenancyKeys } from '../../../src/archivist/keys/recertify-tenancy-keys.js';
import { openTenancy } from '../../../src/archivist/operator/manage-tenancies.js';
import { publicJwk } from '../../../src/core/cose/public-key.js';
import { verifyTenancyKey } from '../../../src/core/keys/tenancy-key-certificate.js';
import type { KeyStore } from '../../../src/platform/keys/key-store.js';
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

it('keys that cannot be certified again are counted and named in the log, with the reason', async () => {
  const { database, keys } = running.service.parts;
  const lines: string[] = [];
  const logger = pino({ level: 'error' }, { write: (line: string) => void lines.push(line) });
  const certified: string[] = [];
  const recertify = (open: KeyStore['open']) =>
    database.inTransaction('system', (tx) =>
      recertifyTenancyKeys(tx, {
        keys: { ...keys.keys, open },
        certify: async ({ keyId }) => {
          certified.push(keyId);
          return new Uint8Array(1);
        },
        logger,
      }).then(() => Promise.reject(new Error('undone'))),
    );
  await expect(recertify((key) => keys.keys.open(key))).rejects.toThrow('undone');
  expect(lines).toEqual([]);
  const [damaged, missing, ...others] = certified.splice(0) as [string, string, ...string[]];
  const open: KeyStore['open'] = async (key) => {
    if (key.keyId === damaged) throw new Error('no key is in this file');
    return key.keyId === missing ? undefined : keys.keys.open(key);
  };
  await expect(recertify(open)).rejects.toThrow('undone');
  expect(certified).toEqual(others);
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    {
      count: 2,
      keys: [
        { key: damaged, reason: 'the private half cannot be opened: no key is in this file' },
        { key: missing, reason: 'the private half is not here' },
      ],
      msg: expect.stringContaining('not certified again'),
    },
  ]);
});
