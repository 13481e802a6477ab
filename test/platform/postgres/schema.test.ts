import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { lastMigration, schemaParts } from '../../../src/archivist/audit/schema-audit-store.js';
import { openEmbedded } from '../../../src/platform/postgres/open-embedded.js';
import type { PooledDatabase } from '../../../src/platform/postgres/pooled-database.js';
import { embeddedDataDir } from '../../support/engines.js';

interface Column {
  readonly table: string;
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
}

const COLUMNS = `
  SELECT c.relname AS "table", a.attname AS name, a.attnotnull AS required,
         replace(format_type(a.atttypid, NULL), 'timestamp with time zone', 'timestamptz') AS type
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
   WHERE c.relnamespace = 'archivist'::regnamespace AND c.relkind IN ('r', 'p') AND a.attnum > 0
     AND NOT a.attisdropped AND a.attgenerated = '' AND c.relname <> 'schema_migration'
   ORDER BY c.relname COLLATE "C", a.attnum`;

const HEAD = `/**
 * The columns of every table with their types; \`?\` if a column can be NULL. \`npm run schema\` writes this file from the
 * migrated database. Generated columns and the table of the migrations are left out, because the program does not use them.
 */
// biome-ignore format: one paragraph for each table
export const SCHEMA = {
`;

function paragraph([table, columns]: readonly [string, readonly Column[]]): string {
  const members = columns.map(({ name, type, required }) => `${name}: '${type}${required ? '' : '?'}',`);
  const lines = members.reduce<string[]>(([...lines], member) => {
    const longer = `${lines.pop() ?? '   '} ${member}`;
    return longer.length <= 120 ? [...lines, longer] : [...lines, longer.slice(0, -member.length - 1), `    ${member}`];
  }, []);
  return `  ${table}: {\n${lines.join('\n')}\n  },\n`;
}

const partsHead = (last: string | undefined) => `/** The last of the migrations. */
export const LAST_MIGRATION = '${last}';

/**
 * What the migrations make that the database runs or enforces by itself, each with the SHA-256 of how it is made. \`npm run
 * schema\` writes this file; the audit compares a database with it.
 */
// biome-ignore format: one line for each part
export const SCHEMA_PARTS = {
`;

let folder: string;
let database: PooledDatabase;
beforeAll(async () => {
  folder = join(await embeddedDataDir(), 'embedded');
  database = await openEmbedded(folder);
});
afterAll(async () => {
  await database?.close();
  await rm(join(folder, '..'), { recursive: true, force: true });
});

it('has the columns of the migrated database in the file that types are made from', async () => {
  const columns = await database.inTransaction('system', (tx) => tx.query<Column>(COLUMNS));
  const tables = new Map<string, Column[]>();
  for (const column of columns) tables.set(column.table, [...(tables.get(column.table) ?? []), column]);
  const text = `${HEAD}${[...tables].map(paragraph).join('')}} as const;\n`;
  await expect(text).toMatchFileSnapshot('../../../src/platform/postgres/schema.ts');
});

it('has the functions and policies of the migrated database in the file that the audit compares with', async () => {
  const parts = await database.inTransaction('system', schemaParts);
  const last = await database.inTransaction('system', lastMigration);
  const lines = parts.map(({ name, digest }) => `  '${name}': '${digest}',\n`);
  await expect(`${partsHead(last)}${lines.join('')}} as const;\n`).toMatchFileSnapshot(
    '../../../src/archivist/audit/schema-parts.ts',
  );
});
