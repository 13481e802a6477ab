import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { AUDITED_TABLES } from '../../src/cli/audited-columns.js';
import type { Database } from '../../src/platform/postgres/database.js';
import { openDatabase } from '../../src/platform/postgres/open-database.js';
import { parseConfig } from '../../src/service/config/config.js';
import { commandLine } from '../support/command-line.js';
import { faultsOfAudit } from './faults-of-audit.js';
import { allColumns, type Column, type FilledDeployment, startFilledDeployment } from './superuser-rig.js';
import { tamperings } from './tampering.js';

let filled: FilledDeployment;
let database: Database;
let columns: Column[];

beforeAll(async () => {
  filled = await startFilledDeployment();
  await filled.running.service.close();
  database = await openDatabase(parseConfig(filled.running.environment), pino({ level: 'silent' }));
  columns = await allColumns(database);
}, 240_000);
afterAll(async () => {
  await database?.close();
  await filled?.close();
});

const audit = () => faultsOfAudit(filled.running, filled.witnesses, database);

/** Which row shows the column at its best; any other one where it is not said. */
const SHOWN: Readonly<Record<string, string>> = {
  'leaf.idtimestamp': 'trie_key IS NOT NULL',
  'log.massif_height': `structure = 'MMR_SHA256' AND leaves >= 4`,
  'log.witnessed_leaves': 'witnessed_leaves > 0',
  'seal.sealed_at_ms': 'log_id = tenant_id',
  'signing_key.state': `state = 'retired'`,
  'signing_key.valid_from': `role = 'seal'`,
  'signing_key.key_id': `role = 'seal'`,
};
const DEFAULTS: Readonly<Record<string, string>> = { log: 'leaves > 0', anchor_window: 'anchors > 0' };
const ORDER: Readonly<Record<string, string>> = { cosigned_checkpoint: 'size DESC' };

const COVERED = Object.entries(AUDITED_TABLES)
  .filter(([, { covered }]) => covered.length > 0)
  .map(([table, { covered }]): [string, readonly string[]] => [table, covered]);

describe('the audit of a database', () => {
  it('knows every column of every table, as covered or as open', () => {
    const known = Object.entries(AUDITED_TABLES).flatMap(([table, { covered: own, open }]) =>
      [...own, ...Object.keys(open)].map((column) => `${table}.${column}`),
    );
    const there = columns.map((each) => `${each.table}.${each.column}`);
    expect([...known].sort()).toEqual([...there].sort());
  });

  it('finds nothing in a sound one', async () => {
    expect(await audit()).toEqual([]);
  });

  it.each(COVERED)(
    'finds a row that was inserted into %s, changed in a covered column, or deleted from it',
    async (table, covered) => {
      const own = columns.filter((each) => each.table === table);
      const where = (column?: string) => {
        const shown = SHOWN[`${table}.${column}`] ?? DEFAULTS[table] ?? 'true';
        return column === undefined ? shown : `${shown} AND ${column} IS NOT NULL`;
      };
      const changes = tamperings(database, own, {
        tenantId: filled.running.service.parts.deployment.publicTenancy,
        where,
        order: ORDER[table],
      });
      for (const change of changes) {
        if (change.column !== undefined && !covered.includes(change.column)) continue;
        const touched = await change.apply();
        const faults = await audit().finally(() => change.undo());
        expect([change.name, touched, faults]).toEqual([change.name, 1, expect.arrayContaining([expect.any(String)])]);
      }
    },
    120_000,
  );

  it('finds nothing again once all is undone', async () => {
    expect(await audit()).toEqual([]);
  });

  it('prints its verdict last, and its columns only with --verbose', async () => {
    await database.close();
    const said = async (...options: string[]): Promise<string> => {
      const { out, exitCode } = await commandLine(['audit', ...options]);
      expect(exitCode).toBe(0);
      return out;
    };
    vi.stubEnv('REDIS_URL', undefined);
    for (const name of ['DATA_DIR', 'DATABASE_URL', 'WITNESSES', 'MASSIF_HEIGHT'])
      vi.stubEnv(name, filled.running.environment[name]);
    const [plain, verbose] = [await said(), await said('--verbose')];
    vi.unstubAllEnvs();
    for (const text of [plain, verbose]) expect(text.split('\n').at(-1)).toBe('SOUND.');
    expect(plain).not.toContain('registration: tenant_id');
    expect(verbose).toContain('  registration: tenant_id, statement_hash, event_id');
    expect(verbose).toContain('asset_free_event.creator_issuer');
  });
});
