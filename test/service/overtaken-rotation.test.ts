import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keysLog } from '../../src/archivist/deployment.js';
import { issueManifest } from '../../src/archivist/keys/issue-manifest.js';
import { listKeys, revokeKey, rotateDeploymentKey, rotateRoot } from '../../src/archivist/operator/manage-keys.js';
import { keyThumbprint } from '../../src/core/cose/cose-key.js';
import { rootFingerprint } from '../../src/core/keys/root-fingerprint.js';
import { isWaiting } from '../../src/ledger/intake-store.js';
import { enterKeyManifest } from '../../src/ledger/keys-log/enter-key-manifest.js';
import { statementBytes } from '../../src/ledger/statement-store.js';
import { listSigningKeys } from '../../src/platform/keys/signing-key-store.js';
import type { Database } from '../../src/platform/postgres/database.js';
import { startTestService, type TestService } from '../api/test-service.js';

let running: TestService;
beforeAll(async () => {
  running = await startTestService();
});
afterAll(() => running?.close());

/** The database, slow for one transaction, the first unless told: a change comes before. */
function overtaken(database: Database, change: () => Promise<unknown>, slow = 1): Database {
  let begun = 0;
  const inTransaction: Database['inTransaction'] = async (scope, work) => {
    begun += 1;
    if (begun === slow) await change();
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

  it('that is signed when another manifest takes its number is a conflict, and none of its keys is stored', async () => {
    const { keys, database, deployment } = running.service.parts;
    const slow = { ...keys, database: overtaken(database, () => rotateRoot(keys), 2) };
    await expect(rotateDeploymentKey(slow, 'note')).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/^There is a key manifest \d+ already: list the keys, and try again/),
    });
    const rows = await database.inTransaction('system', (tx) => listSigningKeys(tx, deployment.deploymentTenancy));
    expect(rows.filter(({ state }) => state === 'pending')).toEqual([]);
  });

  it('that is overtaken by a revocation is a conflict, and the key stays revoked', async () => {
    const { keys, database } = running.service.parts;
    const { retired } = await rotateDeploymentKey(keys, 'issuer');
    const slow = { ...keys, database: overtaken(database, () => revokeKey(keys, retired!.key_id)) };
    await expect(rotateDeploymentKey(slow, 'note')).rejects.toMatchObject({ code: 'conflict' });
    const states = (await listKeys(keys)).map(({ key_id, state }) => [key_id, state]);
    expect(states).toContainEqual([retired!.key_id, 'revoked']);
  });

  it('that another request ends while this one waits is a conflict', async () => {
    const { keys, database } = running.service.parts;
    const slow = { ...keys, database: overtaken(database, () => rotateDeploymentKey(keys, 'note'), 3) };
    await expect(rotateDeploymentKey(slow, 'note')).rejects.toMatchObject({ code: 'conflict' });
  });
});

describe('the rotation of the root key', () => {
  it('has succeeded when another manifest is made with the new key meanwhile', async () => {
    const { keys, database } = running.service.parts;
    const before = keys.manifests.current.manifest;
    const renew = () => issueManifest(keys, keys.manifests.current, {});
    const made = await rotateRoot({ ...keys, database: overtaken(database, renew, 3) });
    expect(made.number).toBe(before.number + 2);
    expect(made.root_fingerprint).not.toBe(rootFingerprint(keyThumbprint(before.root)));
  });
});

describe('a key manifest', () => {
  it('whose number is taken is neither stored nor queued for the keys log', async () => {
    const { database, deployment } = running.service.parts;
    const log = keysLog(deployment);
    const entryId = randomUUID();
    const entered = await database.inTransaction('system', async (tx) => [
      await enterKeyManifest(tx, log, { number: 1n, entryId, manifest: Uint8Array.of(1) }),
      await isWaiting(tx, log, entryId),
      await statementBytes(tx, log.tenantId, entryId),
    ]);
    expect(entered).toEqual([false, false, undefined]);
  });
});
