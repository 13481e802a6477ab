import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openRootKey } from '../../../src/archivist/keys/root-key.js';
import { rotateDeploymentKey } from '../../../src/archivist/operator/manage-keys.js';
import { examineLog } from '../../../src/archivist/operator/manage-logs.js';
import { recoverKeysLog } from '../../../src/archivist/operator/recover-keys-log.js';
import { toHex } from '../../../src/core/bytes.js';
import { type CborValue, decodeCbor, encodeCbor } from '../../../src/core/cose/cbor.js';
import { readKeyManifest } from '../../../src/core/keys/read-key-manifest.js';
import { signKeyManifest } from '../../../src/core/keys/sign-key-manifest.js';
import { generationSealKey } from '../../../src/ledger/seal-object.js';
import { fileObjectStore } from '../../../src/platform/file-object-store.js';
import { listKeyManifests } from '../../../src/platform/keys/manifest/key-manifest-store.js';
import { manifestObjectKey } from '../../../src/platform/keys/manifest/manifest-objects.js';
import { createLogger } from '../../../src/platform/logger.js';
import type { ObjectStore } from '../../../src/platform/object-store.js';
import { type Client, clientWith, startTestService, type TestService } from '../../api/test-service.js';

const PATIENCE = { timeout: 40_000, interval: 50 };
const TABLES = ['log', 'leaf', 'node_page', 'seal'];

let running: TestService;
let keysDir: string;
let operator: Client;
let objects: ObjectStore;
let logId: string;

const examined = () => examineLog({ database: running.service.parts.database, objectStore: objects }, logId);
const sealed = (leaves: bigint) =>
  vi.waitFor(async () => {
    const { log } = await examined();
    expect([log.leaves, log.publishedSize]).toEqual([leaves, log.size]);
  }, PATIENCE);
const numbers = async () => {
  const { database, deployment } = running.service.parts;
  const rows = await database.inTransaction('system', (tx) => listKeyManifests(tx, deployment.deploymentTenancy, 1n));
  return rows.map(({ number }) => Number(number));
};
const resume = () => operator.post(`/archivist/operator/v1/logs/${logId}:resume`, '');

/** Puts the rows of the keys log back to where they were when they were kept, as a restored copy has them. */
async function setBack(): Promise<void> {
  await running.asOwner(
    `UPDATE archivist.log SET halted = 'restored' WHERE log_id = '${logId}'`,
    ...TABLES.flatMap((table) => [
      `DELETE FROM archivist.${table} WHERE log_id = '${logId}'`,
      `INSERT INTO archivist.${table} SELECT * FROM public.kept_${table}`,
    ]),
    `DELETE FROM archivist.statement WHERE event_id IN (SELECT entry_id FROM archivist.key_manifest WHERE number > 1)`,
    'DELETE FROM archivist.key_manifest WHERE number > 1',
    `UPDATE archivist.log SET halted = 'the database is older' WHERE log_id = '${logId}'`,
  );
}

beforeAll(async () => {
  keysDir = await mkdtemp(join(tmpdir(), 'recover-keys-'));
  running = await startTestService({ KEYS_DIR: keysDir });
  operator = clientWith(running.url, (await readFile(join(keysDir, 'operator-token'), 'utf8')).trim());
  objects = fileObjectStore(join(running.environment.DATA_DIR, 'objects'));
  logId = running.service.parts.deployment.keysLog;
  await sealed(1n);
  await running.asOwner(
    ...TABLES.map(
      (table) => `CREATE TABLE public.kept_${table} AS SELECT * FROM archivist.${table} WHERE log_id = '${logId}'`,
    ),
  );
  await rotateDeploymentKey(running.service.parts.keys, 'chain');
  await sealed(3n);
  await setBack();
}, 60_000);
afterAll(async () => {
  await running?.close();
  await rm(keysDir, { recursive: true });
});

describe('a keys log that the database has lost the end of is not brought back', () => {
  /** Damage from outside, and its repair. */
  type Damage = () => Promise<() => Promise<unknown>>;
  const object =
    (key: () => string, changed: (bytes: Uint8Array) => Uint8Array | undefined): Damage =>
    async () => {
      const before = (await objects.get(key()))!;
      const bytes = changed(before);
      await (bytes ? objects.put(key(), bytes) : objects.remove(key()));
      return () => objects.put(key(), before);
    };
  const seal = () => generationSealKey(logId, 0, 2n);
  const manifest = (number: number) => () => manifestObjectKey(`log/${logId}`, number);
  const sealOver = (change: (leaves: number, signed: Uint8Array) => CborValue) => (bytes: Uint8Array) => {
    const [leaves, signed] = decodeCbor(bytes) as [number, Uint8Array];
    return encodeCbor(change(leaves, signed));
  };
  const lastBit = (bytes: Uint8Array) => bytes.with(-1, bytes.at(-1)! ^ 1);

  const noManifest: Damage = async () => {
    await running.asOwner('CREATE TABLE public.kept_manifest AS SELECT * FROM archivist.key_manifest');
    await running.asOwner('DELETE FROM archivist.key_manifest');
    return () => running.asOwner('INSERT INTO archivist.key_manifest SELECT * FROM public.kept_manifest');
  };
  /** The root key has signed two manifests 3: the database has one, KEYS_DIR the other. */
  const another: Damage = async () => {
    const { manifest: newest } = readKeyManifest((await objects.get(manifest(3)()))!);
    const signer = (await openRootKey(running.service.parts.keys.keys, newest.root))!;
    const bytes = await signKeyManifest({ ...newest, issuedAtMs: newest.issuedAtMs + 1 }, signer);
    await running.asOwner(
      `INSERT INTO archivist.key_manifest (tenant_id, number, entry_id, manifest)
       SELECT tenant_id, 3, gen_random_uuid(), '\\x${toHex(bytes)}' FROM archivist.key_manifest`,
    );
    return () => running.asOwner('DELETE FROM archivist.key_manifest WHERE number = 3');
  };

  const LOST = 'the keys log cannot be brought back from the object store';
  const NOT_OVER = 'Published seal 2 of the keys log is not over these key manifests: ';
  it.each<[string, Damage, string]>([
    ['without any key manifest to begin with', noManifest, `The database has no key manifest: ${LOST}`],
    [
      'while one of its manifests is not in the object store',
      object(manifest(2), () => undefined),
      `Key manifest 2 is not in the object store: ${LOST}`,
    ],
    [
      'with a manifest that the root key did not sign',
      object(manifest(2), lastBit),
      'A key manifest does not follow: ',
    ],
    [
      'with another newest manifest than KEYS_DIR has',
      another,
      `The database has another key manifest 3 than KEYS_DIR: ${LOST}`,
    ],
    [
      'under a seal over more manifests than there are',
      object(
        seal,
        sealOver((_, signed) => [9, signed]),
      ),
      `${NOT_OVER}it covers 9 manifests, 3 are known`,
    ],
    [
      'under a seal over no new manifest',
      object(
        seal,
        sealOver((_, signed) => [1, signed]),
      ),
      `${NOT_OVER}it covers 1 manifests, 3 are known`,
    ],
    [
      'under a seal that signs another tree',
      object(
        seal,
        sealOver((leaves, signed) => [leaves === 2 ? 3 : 2, signed]),
      ),
      NOT_OVER,
    ],
    [
      'under a seal that no key of the log signed',
      object(
        seal,
        sealOver((leaves, signed) => [leaves, lastBit(signed)]),
      ),
      NOT_OVER,
    ],
    ['under a seal that cannot be read', object(seal, () => Uint8Array.of(1)), `${NOT_OVER}it cannot be read`],
  ])('%s', async (_, damage, says) => {
    const repair = await damage();
    const before = await numbers();
    const { status, json } = await resume();
    expect([status, json['description']]).toEqual([409, expect.stringContaining(says)]);
    expect([await numbers(), (await examined()).log.leaves]).toEqual([before, 1n]);
    await repair();
  });

  it('twice by two operators at once: the second one is told that the manifests have changed', async () => {
    const { log, explanation } = await examined();
    const { database, clock, ids, keyring, keys } = running.service.parts;
    let resumed: Awaited<ReturnType<typeof resume>> | undefined;
    const overtaken: ObjectStore = {
      ...objects,
      async get(key) {
        if (key === seal()) resumed = await resume();
        return objects.get(key);
      },
    };
    const deps = { ...keys, database, clock, ids, keyring, objectStore: overtaken, logger: createLogger('silent') };
    await expect(recoverKeysLog(deps, log, explanation)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('The key manifests have changed since the request began'),
    });
    expect([resumed!.status, resumed!.json['leaves'], resumed!.json['halted']]).toEqual([200, 3, '']);
    expect(await numbers()).toEqual([1, 2, 3]);
    await sealed(3n);
  });
});

describe('a keys log that runs', () => {
  it('gets no entry a second time after somebody deleted rows of key manifests that it has', async () => {
    await running.asOwner('DELETE FROM archivist.key_manifest WHERE number > 1');
    const { status, json } = await resume();
    expect([status, json['description']]).toEqual([
      409,
      expect.stringMatching(/^The database has 1 of its key manifests, and 3 entries in its keys log: .*Restore/),
    ]);
    expect(await numbers()).toEqual([1]);
  });
});
