import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { rotateDeploymentKey } from '../../src/archivist/operator/manage-keys.js';
import { toBase64Url } from '../../src/core/bytes.js';
import { keyThumbprint } from '../../src/core/cose/cose-key.js';
import type { Verdict } from '../../src/core/verify/verdict.js';
import { isManifestRole, manifestRows } from '../../src/platform/keys/manifest/manifest-rows.js';
import { listSigningKeys, type SigningKeyRow } from '../../src/platform/keys/signing-key-store.js';
import { openEmbedded } from '../../src/platform/postgres/open-embedded.js';
import { parseConfig } from '../../src/service/config/config.js';
import { type RunningService, startService } from '../../src/start-service.js';
import { clientOf, startTestService, type TestService, template } from '../api/test-service.js';
import { commandLine } from '../support/command-line.js';
import { copyToOlderSchema } from '../support/older-schema.js';

const PATIENCE = { timeout: 60_000, interval: 200 };
const LONG = 120_000;

describe('a deployment whose keys are older than key manifests', { timeout: LONG }, () => {
  let running: TestService;
  let service: RunningService;
  let folder: string;
  let before: SigningKeyRow[];
  /** What the start says whose KEYS_DIR has the manifest of another deployment. */
  let beside: string;
  let removeOlder: (() => Promise<void>) | undefined;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'keys-upgrade-'));
    running = await startTestService({ KEYS_DIR: join(folder, 'keys') });
    service = running.service;
    await statement('before.cose');
    for (const role of ['issuer', 'seal'] as const) await rotateDeploymentKey(service.parts.keys, role);
    before = await storedKeys();
    await forgetManifests();
    const environment = { ...running.environment, ...(await olderDatabase()) };
    const another = join(folder, 'keys', 'key-manifest-01900000-0000-7000-8000-00000000000f.cose');
    await writeFile(another, 'a manifest');
    beside = await startService(parseConfig(environment)).then(
      () => 'it has started',
      (error: Error) => error.message,
    );
    await rm(another);
    service = await startService(parseConfig(environment));
  }, LONG);
  afterAll(async () => {
    await service?.close();
    await running?.close();
    await removeOlder?.();
    await rm(folder, { recursive: true, force: true });
  });

  async function storedKeys(): Promise<SigningKeyRow[]> {
    const { database, deployment } = service.parts;
    const rows = await database.inTransaction('system', (tx) => listSigningKeys(tx, deployment.deploymentTenancy));
    return rows.filter(({ role }) => isManifestRole(role));
  }

  /** Takes away every row that versions before key manifests did not have; their other rows stay. */
  async function forgetManifests(): Promise<void> {
    const { keysLog } = service.parts.deployment;
    const root = `${toBase64Url(keyThumbprint(service.parts.keys.manifests.current.manifest.root))}.pem`;
    await service.close();
    await rewriteRows([
      ...['leaf', 'seal', 'node_page', 'intake', 'cosigned_checkpoint'].map(
        (table) => `DELETE FROM archivist.${table} WHERE log_id = '${keysLog}'`,
      ),
      'DELETE FROM archivist.statement s USING archivist.key_manifest m WHERE s.event_id = m.entry_id',
      'DELETE FROM archivist.key_manifest',
      'UPDATE archivist.signing_key SET certificate = NULL',
      // Where the migration runs again, it makes the log.
      running.environment['DATABASE_URL']
        ? `DELETE FROM archivist.log WHERE log_id = '${keysLog}'`
        : `UPDATE archivist.log SET size = 0, leaves = 0, last_idtimestamp = DEFAULT, seal_number = 0, sealed_size = 0,
              published_number = 0, published_size = 0, witnessed_leaves = DEFAULT WHERE log_id = '${keysLog}'`,
    ]);
    const objects = join(running.environment.DATA_DIR, 'objects');
    for (const each of [`key-manifests/${keysLog}`, `seals/${keysLog}`])
      await rm(join(objects, each), { recursive: true });
    for (const name of await readdir(join(folder, 'keys')))
      if (name === root || name.startsWith('key-manifest-')) await rm(join(folder, 'keys', name));
  }

  /** Runs SQL as the role that owns the tables, while no service runs. */
  async function rewriteRows(statements: readonly string[]): Promise<void> {
    const { DATABASE_URL, DATA_DIR } = running.environment;
    if (DATABASE_URL) {
      for (const sql of statements) await running.asOwner(sql);
      return;
    }
    const database = await openEmbedded(join(DATA_DIR, 'embedded'));
    try {
      await database.inTransaction('system', async (tx) => {
        await tx.execute('SET LOCAL ROLE NONE');
        for (const sql of statements) await tx.execute(sql);
      });
    } finally {
      await database.close();
    }
  }

  /**
   * A database with the schema of that version and these rows in it, so that the start runs the migrations since over
   * them. The embedded engine has no second database: there the newer schema stays, and the first start after the
   * migrations is what is tested.
   */
  async function olderDatabase(): Promise<Record<string, string>> {
    const url = running.environment['DATABASE_URL'];
    if (url === undefined) return {};
    const older = await copyToOlderSchema(url, '000045_key_manifests');
    removeOlder = older.remove;
    return { DATABASE_URL: older.url };
  }

  async function statement(name: string): Promise<string> {
    const owner = await clientOf(service.url, running.owner.clientId, running.ownerSecret);
    const asset = await owner.post('/archivist/v2/assets', { attributes: {} });
    const event = await owner.post(`/archivist/v2/${asset.json['identity']}/events`, {
      operation: 'Record',
      behaviour: 'RecordEvidence',
      event_attributes: template('vcon://0190a8c0-0000-7000-8000-0000000000ab'),
    });
    return vi.waitFor(async () => {
      const answer = await owner.get(`/archivist/v2/${event.json['identity']}/transparent-statement`);
      expect(answer.status).toBe(200);
      await writeFile(join(folder, name), answer.bytes);
      return join(folder, name);
    }, PATIENCE);
  }

  async function verify(...files: string[]): Promise<Verdict & { readonly exitCode: number }> {
    const manifest = join(folder, 'manifest.cbor');
    const answer = await fetch(`${service.url}/verifiabledata/keys/manifest`);
    await writeFile(manifest, new Uint8Array(await answer.arrayBuffer()));
    const root = ['--root', service.rootFingerprint, '--manifest', manifest];
    const { out, exitCode } = await commandLine(['verify', ...root, '--statement-only', '--json', ...files]);
    return { ...(JSON.parse(out) as Verdict), exitCode };
  }

  it('gets no first manifest while KEYS_DIR has that of another deployment: it is the wrong folder, or database', () => {
    expect(beside).toMatch(
      /^KEYS_DIR has the key manifest of another deployment, and not \S+: check KEYS_DIR and DATABASE_URL/,
    );
  });

  it('gets a first manifest that lists them with their states and intervals, as entry 0 of the keys log', async () => {
    const { manifest } = service.parts.keys.manifests.current;
    expect(manifest.number).toBe(1);
    expect(before.filter(({ state }) => state === 'retired')).toHaveLength(2);
    const listed = manifestRows(manifest);
    const shown = (rows: readonly SigningKeyRow[]) =>
      rows.map(({ keyId, role, state, validFrom, validUntil }) => ({ keyId, role, state, validFrom, validUntil }));
    const byId = (rows: ReturnType<typeof shown>) => rows.toSorted((a, b) => (a.keyId < b.keyId ? -1 : 1));
    expect(byId(shown(listed))).toEqual(byId(shown(before)));
    const path = `${service.url}/verifiabledata/tlog/${service.parts.deployment.keysLog}`;
    await vi.waitFor(async () => {
      const checkpoint = await (await fetch(`${path}/checkpoint`)).text();
      expect(checkpoint.split('\n')[1]).toBe('1');
    }, PATIENCE);
  });

  it('verifies older entries, and the verdict says that they are older than the manifest; newer ones are not', async () => {
    const older = await verify(join(folder, 'before.cose'));
    expect([older.outcome, older.exitCode]).toEqual(['verified', 0]);
    const history = older.missing.filter(({ what }) => what === 'key_history');
    expect(history.length).toBeGreaterThan(0);
    for (const { detail } of history) expect(detail).toMatch(/ (?:is|are) older than the manifest/);
    const newer = await verify(await statement('after.cose'));
    expect([newer.outcome, newer.missing.map(({ what }) => what)]).toEqual([
      'verified',
      expect.not.arrayContaining(['key_history']),
    ]);
  });

  it('has no fault: tenancies’ keys are certified, and the folder holds root and manifest', async () => {
    expect(service.parts.keys.faults()).toEqual([]);
    const names = await readdir(join(folder, 'keys'));
    expect(names.some((name) => name.startsWith('key-manifest-'))).toBe(true);
    expect(await readFile(join(folder, 'keys', names.find((name) => name.startsWith('key-manifest-'))!))).toEqual(
      Buffer.from(service.parts.keys.manifests.current.bytes),
    );
  });
});
