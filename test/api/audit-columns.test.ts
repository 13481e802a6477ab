import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { AUDITED_TABLES } from '../../src/cli/audited-columns.js';
import type { KeyRole } from '../../src/platform/keys/key-role.js';
import type { Database } from '../../src/platform/postgres/database.js';
import { openDatabase } from '../../src/platform/postgres/open-database.js';
import { parseConfig } from '../../src/service/config/config.js';
import { commandLine } from '../support/command-line.js';
import { faultsOfAudit } from './faults-of-audit.js';
import { allColumns, asSuperuser, type Column, type FilledDeployment, startFilledDeployment } from './superuser-rig.js';
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
    'finds a row that was inserted into %s, changed in a covered column, or deleted from it, and names each fault once',
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
        expect([change.name, faults]).toEqual([change.name, [...new Set(faults)]]);
      }
    },
    120_000,
  );

  it('finds a statement log whose row is gone, also one without entries', async () => {
    const { publicStatementLog, privateStatementLog } = filled.running.service.parts.deployment;
    for (const log of [publicStatementLog, privateStatementLog]) {
      await asSuperuser(database, 'DROP TABLE IF EXISTS public.kept');
      await asSuperuser(database, `CREATE TABLE public.kept AS SELECT * FROM archivist.log WHERE log_id = '${log}'`);
      await asSuperuser(database, `DELETE FROM archivist.log WHERE log_id = '${log}'`);
      const faults = await audit();
      await asSuperuser(database, 'INSERT INTO archivist.log SELECT * FROM public.kept');
      expect(faults).toContain(`logs: statement log ${log} is missing`);
    }
  });

  it.each<[string, string, string, readonly (string | RegExp)[]]>([
    [
      'an event has lost its anchor',
      'simple_hash_event',
      'anchor_number = NULL',
      [
        /^anchors: tenant\/\S+: 1 events lie in an anchored window without its anchor$/,
        /^anchors: tenant\/\S+: anchor \d+ says \d events and covers \d$/,
        /^anchors: tenant\/\S+: anchor \d+ has a different hash than its events give$/,
      ],
    ],
    [
      'an anchor begins after its events',
      'anchor',
      `start_time = x.end_time - interval '1 millisecond'`,
      [
        /^anchors: tenant\/\S+: anchor \d+ does not begin where anchor \d+ ends$/,
        /^anchors: tenant\/\S+: anchor \d+ covers events from outside its window: \d$/,
        /^chain: transaction \d+ of block \d+: its data differs from its SIMPLE_HASH$/,
      ],
    ],
    [
      'the header of a block cannot be read',
      'chain_block',
      `header = '\\x00'`,
      [
        /^chain: block [1-9]\d* has a different hash than its header gives$/,
        /^chain: block [1-9]\d* has a header that cannot be read$/,
        /^chain: block [1-9]\d* differs from the one in the object store$/,
      ],
    ],
    [
      'a transaction is in no block',
      'chain_transaction',
      'block_number = -1',
      [
        /^chain: block \d+ has a transaction root that its transactions do not give$/,
        /^chain: block \d+ says that \d+ transactions were made, not \d+$/,
        'chain: 1 transactions are in no block',
      ],
    ],
  ])('says what is wrong where %s', async (_, table, change, faults) => {
    const key = columns.filter((each) => each.table === table && each.key).map(({ column }) => column);
    const same = key.map((column) => `x.${column} = k.${column}`).join(' AND ');
    const column = change.slice(0, change.indexOf(' '));
    const run = (sql: string) => asSuperuser(database, sql);
    await run('DROP TABLE IF EXISTS public.kept');
    await run(
      `CREATE TABLE public.kept AS SELECT * FROM archivist.${table} ORDER BY ${key.join(' DESC, ')} DESC LIMIT 1`,
    );
    const set = (value: string) => run(`UPDATE archivist.${table} x SET ${value} FROM public.kept k WHERE ${same}`);
    await set(change);
    const found = await audit().finally(() => set(`${column} = k.${column}`));
    expect(found).toEqual(expect.arrayContaining(faults.map((fault) => expect.stringMatching(fault))));
    expect(found.filter((fault) => fault.includes('its sender is not'))).toEqual([]);
  });

  it('finds nothing again once all is undone', async () => {
    expect(await audit()).toEqual([]);
  });
});

describe('vcon-archivist audit', () => {
  let folder: string;
  const file = (name: string) => join(folder, name);
  const run = (...options: string[]) => commandLine(['audit', ...options]);

  beforeAll(async () => {
    await database.close();
    folder = await mkdtemp(join(tmpdir(), 'audit-command-'));
    vi.stubEnv('REDIS_URL', undefined);
    for (const name of ['DATA_DIR', 'DATABASE_URL', 'WITNESSES', 'MASSIF_HEIGHT'])
      vi.stubEnv(name, filled.running.environment[name]);
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await rm(folder, { recursive: true });
  });

  it('prints its verdict last, and its columns only with --verbose', async () => {
    const said = async (...options: string[]): Promise<string> => {
      const { out, exitCode } = await run(...options);
      expect(exitCode).toBe(0);
      return out;
    };
    const [plain, verbose] = [await said(), await said('--verbose')];
    for (const text of [plain, verbose]) expect(text.split('\n').at(-1)).toBe('SOUND.');
    expect(plain).not.toContain('registration: tenant_id');
    expect(verbose).toContain('  registration: tenant_id, statement_hash, event_id');
    expect(verbose).toContain('asset_free_event.creator_issuer');
  });

  it('believes only the keys of seals and receipts that it is given, and says which others the database gave', async () => {
    vi.stubEnv('KEYS_DIR', file('none'));
    const { keyring } = filled.running.service.parts;
    const given = async (name: string, ...roles: KeyRole[]) => {
      await writeFile(file(name), JSON.stringify({ keys: keyring.everyKey(roles).map(({ jwk }) => jwk) }));
      return run('--log-keys', file(name), '--state', file('state'));
    };
    const right = await given('logs.json', 'seal', 'statement_receipt');
    expect([right.err, right.exitCode, right.out.split('\n').at(-1)]).toEqual(['', 0, 'SOUND.']);
    expect(right.out).toMatch(/keys of issuers, checkpoints and the chain were read from the database.* give --root/);
    const wrong = await given('issuers.json', 'issuer');
    expect([wrong.exitCode, wrong.out.split('\n').at(-1)]).toEqual([
      1,
      expect.stringMatching(/^NOT SOUND: \d+ faults\.$/),
    ]);
    expect(wrong.out).toMatch(/^FAULTY {2}tenant\/.* faults$/m);
    expect(wrong.out).toMatch(/^tenant\/.* is not signed by any of the given keys$/m);
    vi.stubEnv('KEYS_DIR', undefined);
  });

  it.each([
    ['--log-keys', 'no keys in'],
    ['--state', 'is damaged: delete it to audit from the start'],
  ])('exits 2 if the file of %s cannot be used, and names it', async (option, says) => {
    await writeFile(file('other'), '{');
    const { out, err, exitCode } = await run(option, file('other'));
    expect([out, exitCode, err.split('\n')]).toEqual(['', 2, [expect.stringContaining(says)]]);
    expect(err).toContain(file('other'));
  });
});
