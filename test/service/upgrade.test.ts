import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { pino } from 'pino';
import { describe, expect, inject, it } from 'vitest';
import { knownMigrations } from '../../src/platform/postgres/migrate.js';
import { openPostgresql } from '../../src/platform/postgres/open-postgresql.js';
import { startBuilt } from '../support/built-program.js';
import { onServer } from '../support/engines.js';
import { serverUrl } from '../support/prerequisites.js';

const FIXTURES = fileURLToPath(new URL('../../fixtures/upgrade', import.meta.url));
const VERSIONS = await readdir(FIXTURES);
const silent = pino({ level: 'silent' });

describe('data of an earlier version', { timeout: 180_000 }, () => {
  it.each(VERSIONS)('is migrated, audited and verified: %s', async (version) => {
    const fixture = join(FIXTURES, version);
    const folder = await mkdtemp(join(inject('runFolder'), 'upgrade-'));
    const database = `upgrade_${randomUUID().replaceAll('-', '')}`;
    const url = serverUrl && Object.assign(new URL(serverUrl), { pathname: `/${database}` }).href;
    if (url) await onServer(serverUrl!, `CREATE DATABASE ${database}`);
    const environment = {
      DATA_DIR: folder,
      OBJECT_STORE_URL: pathToFileURL(join(folder, 'objects')).href,
      ...(url ? { DATABASE_URL: url } : {}),
    };
    const fingerprint = (await readFile(join(fixture, 'root-fingerprint.txt'), 'utf8')).trim();
    const args = ['restore', fixture, '--without-keys', '--nothing-published-since', '--root', fingerprint];
    try {
      const restored = startBuilt('cli/vcon-archivist', environment, args);
      const code = await restored.ended;
      expect([code, restored.written.err]).toEqual([0, '']);
      expect(restored.written.out).toMatch(/The audit found no fault/);
      if (url) {
        const rows = await onServer(url, 'SELECT name FROM archivist.schema_migration ORDER BY id');
        expect(rows.map(({ name }) => name)).toEqual(await knownMigrations());
        const events = await onServer(url, 'SELECT count(*)::int AS events FROM archivist.asset_event');
        expect(events[0]!['events']).toBeGreaterThan(10);
      }
    } finally {
      if (url) await onServer(serverUrl!, `DROP DATABASE ${database} WITH (FORCE)`);
      await rm(folder, { recursive: true, force: true });
    }
  });

  it.runIf(serverUrl)('of a newer version is refused with words', async () => {
    const database = `newer_${randomUUID().replaceAll('-', '')}`;
    const url = Object.assign(new URL(serverUrl!), { pathname: `/${database}` }).href;
    await onServer(serverUrl!, `CREATE DATABASE ${database}`);
    try {
      await (await openPostgresql(url, silent)).close();
      await onServer(url, `INSERT INTO archivist.schema_migration (name, run_on) VALUES ('999999_later', now())`);
      await expect(openPostgresql(url, silent)).rejects.toThrow(
        /a newer version of vcon-archivist has migrated it \(999999_later is unknown to this version\): start that version/,
      );
    } finally {
      await onServer(serverUrl!, `DROP DATABASE ${database} WITH (FORCE)`);
    }
  });
});
