import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { knownMigrations } from '../../src/platform/postgres/migrate.js';
import { type Client, clientOf, template } from '../api/test-service.js';
import { type BuiltProgram, killBuilt, startBuilt } from '../support/built-program.js';
import { onServer } from '../support/engines.js';
import { freePort } from '../support/free-port.js';
import { serverUrl } from '../support/prerequisites.js';
import { buildVersion, commitOfVersionBefore } from '../support/version-before.js';

const PATIENCE = { timeout: 120_000, interval: 250 };
const EVENTS = 6;
const SUBJECT = 'vcon://0190a8c0-0000-7000-8000-0000000000cd';
const owner = { id: randomUUID(), secret: `${randomUUID()}${randomUUID()}` };

describe.runIf(serverUrl && commitOfVersionBefore)(
  'the version before beside this one, on one database',
  { timeout: 300_000 },
  () => {
    const name = `versions_${randomUUID().replaceAll('-', '')}`;
    const url = serverUrl && Object.assign(new URL(serverUrl), { pathname: `/${name}` }).href;
    let folder: string;
    let before: string;
    let older: Running;
    let newer: Running;
    let asset: string;
    let migrated = false;
    const identities: string[] = [];

    interface Running {
      readonly program: BuiltProgram;
      readonly client: Client;
    }

    function spawn(version: 'older' | 'newer', port: number): BuiltProgram {
      const environment = {
        DATABASE_URL: url!,
        DATA_DIR: join(folder, version),
        KEYS_DIR: join(folder, 'keys'),
        OBJECT_STORE_URL: pathToFileURL(join(folder, 'objects')).href,
        PUBLIC_URL: 'http://archivist.example',
        PORT: String(port),
        PLUGIN_PORT: '0',
        BOOTSTRAP_CLIENT_ID: owner.id,
        BOOTSTRAP_CLIENT_SECRET: owner.secret,
        LOG_LEVEL: 'error',
      };
      return startBuilt('main', environment, [], version === 'older' ? before : undefined);
    }

    async function start(version: 'older' | 'newer'): Promise<Running> {
      const port = await freePort();
      const program = spawn(version, port);
      await program.says(/Stop with/);
      return { program, client: await clientOf(`http://127.0.0.1:${port}`, owner.id, owner.secret) };
    }

    async function applied(): Promise<unknown[]> {
      return (await onServer(url!, 'SELECT name FROM archivist.schema_migration ORDER BY id')).map(({ name }) => name);
    }

    async function post({ client }: Running): Promise<void> {
      const body = { operation: 'Record', behaviour: 'RecordEvidence', event_attributes: template(SUBJECT) };
      const { status, json } = await client.post(`/archivist/v2/${asset}/events`, body);
      expect(status).toBe(200);
      identities.push(String(json['identity']));
    }

    beforeAll(async () => {
      folder = await mkdtemp(join(inject('runFolder'), 'versions-'));
      before = (await buildVersion(commitOfVersionBefore!, folder)).dist;
      await onServer(serverUrl!, `CREATE DATABASE ${name}`);
      older = await start('older');
      asset = String((await older.client.post('/archivist/v2/assets', { attributes: {} })).json['identity']);
      await post(older);
    }, 300_000);
    afterAll(async () => {
      await killBuilt();
      if (serverUrl) await onServer(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      if (folder) await rm(folder, { recursive: true, force: true });
    });

    it('both accept events after the migration, and each serves the receipts of all, byte for byte the same', async () => {
      const migrations = await knownMigrations();
      migrated = (await applied()).length < migrations.length;
      newer = await start('newer');
      expect(await applied()).toEqual(migrations);
      for (let number = 0; number < EVENTS; number += 1) await post(number % 2 === 0 ? older : newer);
      for (const identity of identities) {
        const path = `/archivist/v2/${identity}/transparent-statement`;
        const receipts = await vi.waitFor(async () => {
          const answers = await Promise.all([older, newer].map(({ client }) => client.get(path)));
          expect(answers.map(({ status }) => status)).toEqual([200, 200]);
          return answers.map(({ bytes }) => Buffer.from(bytes).toString('hex'));
        }, PATIENCE);
        expect(receipts[0]).toBe(receipts[1]);
      }
    });

    it('the older one does not start again: it says that a newer version has migrated the database', async (context) => {
      if (!migrated) return context.skip('this version has no migration that the version before has not');
      older.program.signal('SIGTERM');
      expect(await older.program.ended).toBe(0);
      const again = spawn('older', await freePort());
      expect(await again.ended).not.toBe(0);
      expect(again.written.err).toMatch(/a newer version of vcon-archivist has migrated it/);
    });

    it('what both have written is sound', async () => {
      await post(newer);
      newer.program.signal('SIGTERM');
      expect(await newer.program.ended).toBe(0);
      const audit = startBuilt(
        'cli/vcon-archivist',
        {
          DATABASE_URL: url!,
          DATA_DIR: join(folder, 'newer'),
          KEYS_DIR: join(folder, 'keys'),
          OBJECT_STORE_URL: pathToFileURL(join(folder, 'objects')).href,
        },
        ['audit'],
      );
      expect([await audit.ended, audit.written.err]).toEqual([0, '']);
      const [stored] = await onServer(
        url!,
        `SELECT count(*)::int AS events FROM archivist.asset_event WHERE behaviour = 'RecordEvidence'`,
      );
      expect(stored!['events']).toBe(identities.length);
    });
  },
);
