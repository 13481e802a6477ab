import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { requireRestrictedRole } from '../../../src/platform/postgres/service-role.js';
import { engines, type TestDatabase } from '../../support/engines.js';

const MINE = '0190a8c0-0000-7000-8000-00000000000a';
const FOREIGN = '0190a8c0-0000-7000-8000-00000000000b';

interface Column {
  readonly name: string;
  readonly type: string;
  readonly check: string | null;
}

/** Every table of ours that has tenancies in it, whoever adds it later. */
async function isolatedTables(opened: TestDatabase): Promise<string[]> {
  const rows = await opened.asOwner(
    `SELECT c.relname AS name FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
      WHERE c.relnamespace = 'archivist'::regnamespace AND c.relkind IN ('r', 'p') AND a.attname = 'tenant_id'
        AND NOT a.attisdropped ORDER BY 1`,
  );
  return rows.map((row) => String(row['name']));
}

/** Columns that an insert must name. */
async function requiredColumns(opened: TestDatabase, table: string): Promise<Column[]> {
  const rows = await opened.asOwner(
    `SELECT a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type,
            (SELECT pg_get_constraintdef(k.oid) FROM pg_constraint k
              WHERE k.conrelid = a.attrelid AND k.contype = 'c' AND k.conkey = ARRAY[a.attnum]) AS check
       FROM pg_attribute a
      WHERE a.attrelid = ('archivist.' || $1)::regclass AND a.attnum > 0 AND NOT a.attisdropped
        AND a.attnotnull AND NOT a.atthasdef AND a.attgenerated = ''`,
    [table],
  );
  return rows as unknown as Column[];
}

const SAMPLES: Readonly<Record<string, unknown>> = {
  uuid: MINE,
  text: 'x',
  boolean: true,
  jsonb: '{}',
  bytea: new Uint8Array([1]),
  bigint: 1n,
  smallint: 1,
  integer: 1,
  'double precision': 1,
  'text[]': [],
  'uuid[]': [],
  'timestamp with time zone': new Date(0),
};

/** Columns of jsonb that hold a list, which a trigger weighs. */
const LISTS = new Set(['filters', 'access_permissions']);

/** A value that the column takes: the first that its check names, or any of its type. */
function sample({ name, type, check }: Column, tenantId: string): unknown {
  if (name === 'tenant_id') return tenantId;
  if (LISTS.has(name)) return '[]';
  const allowed = check?.match(/'([^']*)'::text/)?.[1];
  if (allowed !== undefined) return allowed;
  if (!(type in SAMPLES)) throw new Error(`no sample for ${name} ${type}`);
  return SAMPLES[type];
}

function insertion(table: string, columns: readonly Column[], tenantId: string): [text: string, values: unknown[]] {
  const names = columns.map((column) => `"${column.name}"`).join(', ');
  const places = columns.map((column, index) => `$${index + 1}::${column.type}`).join(', ');
  const values = columns.map((column) => sample(column, tenantId));
  return [`INSERT INTO archivist.${table} (${names}) VALUES (${places})`, values];
}

describe.each(engines())('row-level security on %s', (engine) => {
  let opened: TestDatabase;
  let tables: string[];

  beforeAll(async () => {
    opened = await engine.open();
    tables = await isolatedTables(opened);
    // Rows for isolation only: what they refer to does not matter here.
    for (const table of tables)
      for (const { name } of await opened.asOwner(
        `SELECT conname AS name FROM pg_constraint WHERE contype IN ('f', 'u') AND conrelid = ('archivist.' || $1)::regclass`,
        [table],
      ))
        await opened.asOwner(`ALTER TABLE archivist.${table} DROP CONSTRAINT "${name}"`);
    await opened.asOwner('DROP INDEX IF EXISTS archivist.application_by_id');
    for (const table of tables) {
      const columns = await requiredColumns(opened, table);
      for (const tenant of [MINE, FOREIGN]) await opened.asOwner(...insertion(table, columns, tenant));
    }
  });
  afterAll(() => opened.close());

  it('covers the tables that there are', () => {
    expect(tables).toEqual(expect.arrayContaining(['asset', 'asset_event', 'intake', 'leaf', 'log', 'signing_key']));
  });

  it('is enabled and forced on every table with tenancies, with the one pair of policies', async () => {
    const open = await opened.asOwner(
      `SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'archivist'::regnamespace AND c.relname = ANY ($1)
         AND NOT (c.relrowsecurity AND c.relforcerowsecurity AND (SELECT array_agg(p.polname ORDER BY p.polname)
           FROM pg_policy p WHERE p.polrelid = c.oid AND p.polroles = '{0}') = '{readable,writable}'::name[])`,
      [tables],
    );
    expect(open).toEqual([]);
  });

  it('is wider for no role but that of the searches by term, on the tables that have terms', async () => {
    const wider = await opened.asOwner(
      `SELECT c.relname AS table, p.polcmd::text AS command, p.polroles::regrole[]::text AS roles FROM pg_policy p
         JOIN pg_class c ON c.oid = p.polrelid
        WHERE c.relnamespace = 'archivist'::regnamespace AND p.polroles <> '{0}' ORDER BY 1`,
    );
    expect(wider).toEqual(
      ['asset', 'asset_event', 'asset_free_event'].map((table) => ({
        table,
        command: 'r',
        roles: '{vcon_archivist_search}',
      })),
    );
  });

  it('shows nothing of any table without a scope, though no query names a tenancy', async () => {
    const seen: string[] = [];
    await opened.database.inTransaction({ read: [], write: [] }, async (tx) => {
      for (const table of tables)
        if ((await tx.query(`SELECT tenant_id FROM archivist.${table}`)).length > 0) seen.push(table);
    });
    expect(seen).toEqual([]);
  });

  it('shows of every table the rows of the scope, and no others', async () => {
    await opened.database.inTransaction({ read: [MINE], write: [] }, async (tx) => {
      for (const table of tables)
        expect([table, await tx.query(`SELECT tenant_id FROM archivist.${table}`)]).toEqual([
          table,
          [{ tenant_id: MINE }],
        ]);
    });
  });

  it('shows everything to the system scope', async () => {
    await opened.database.inTransaction('system', async (tx) => {
      for (const table of tables)
        expect([table, (await tx.query(`SELECT tenant_id FROM archivist.${table}`)).length]).toEqual([table, 2]);
    });
  });

  it('refuses a row of another tenancy in every table', async () => {
    for (const table of tables) {
      const [text, values] = insertion(table, await requiredColumns(opened, table), FOREIGN);
      const insert = opened.database.inTransaction({ read: [MINE, FOREIGN], write: [MINE] }, (tx) =>
        tx.execute(text, values),
      );
      await expect(insert, table).rejects.toMatchObject({ code: '42501' });
    }
  });

  it('lets nobody change a row that he may only read, or move one to another tenancy', async () => {
    const touched = await opened.database.inTransaction({ read: [FOREIGN], write: [MINE] }, (tx) =>
      tx.execute(`UPDATE archivist.tenancy SET display_name = 'taken' WHERE tenant_id = $1`, [FOREIGN]),
    );
    expect(touched).toBe(0);
    const move = opened.database.inTransaction({ read: [MINE], write: [MINE] }, (tx) =>
      tx.execute('UPDATE archivist.tenancy SET tenant_id = $1', ['0190a8c0-0000-7000-8000-00000000000c']),
    );
    await expect(move).rejects.toMatchObject({ code: '42501' });
  });

  it('cannot be switched off by the role in force', async () => {
    for (const text of [
      'ALTER TABLE archivist.asset DISABLE ROW LEVEL SECURITY',
      'DROP POLICY readable ON archivist.asset',
      'DELETE FROM archivist.asset_event',
      `UPDATE archivist.asset_event SET operation = 'x'`,
    ]) {
      const attempt = opened.database.inTransaction('system', (tx) => tx.execute(text));
      await expect(attempt, text).rejects.toMatchObject({ code: '42501' });
    }
  });

  it('works under a role that it binds, and a start under another one is refused', async () => {
    await opened.database.inTransaction('system', async (tx) => {
      const queryable = { query: async (text: string, values?: unknown[]) => ({ rows: await tx.query(text, values) }) };
      await expect(requireRestrictedRole(queryable)).resolves.toBeUndefined();
      await tx.execute('SET LOCAL ROLE NONE');
      await expect(requireRestrictedRole(queryable)).rejects.toThrow('bypasses row-level security');
    });
  });

  it('names no table of ours like one of the queue, which finds its own by search path', async () => {
    const doubles = await opened.asOwner(
      `SELECT relname FROM pg_class WHERE relnamespace = 'archivist'::regnamespace
       INTERSECT SELECT relname FROM pg_class WHERE relnamespace = 'bullmq'::regnamespace`,
    );
    expect(doubles).toEqual([]);
  });
});
