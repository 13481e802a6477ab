import { join } from 'node:path';
import type pg from 'pg';
import { UsageError } from '../../core/evidence/usage-error.js';
import { knownMigrations, migrateQueueTables, migrateTables } from '../../platform/postgres/migrate.js';
import {
  type CopiedSequence,
  type CopiedTable,
  type CopiedValue,
  copiedTables,
  enterCopyScope,
  insertTableRows,
  setSequence,
} from '../../platform/postgres/table-copy-store.js';
import { haltCopiedLog } from '../backup/copied-state-store.js';
import type { CopyManifest } from '../backup/copy-manifest.js';
import { readJsonLines } from '../backup/hashed-file.js';

const ROWS_AT_ONCE = 200;

/** Checks that this version has the migrations of a copy. @throws {UsageError} if a newer version made the copy */
export async function requireKnownSchema({ migrations, program }: CopyManifest): Promise<void> {
  const known = await knownMigrations();
  const unknown = migrations.find((name, place) => known[place] !== name);
  if (unknown !== undefined)
    throw new UsageError(
      `version ${program} made this copy, and this version does not know its migration ${unknown}: restore with that version or a newer one`,
    );
}

/** The part of a copy's description that says what its tables are. */
interface DumpedTables {
  readonly migrations: readonly string[];
  readonly tables: readonly (CopiedTable & { readonly rows: number; readonly file: string })[];
  readonly sequences: readonly CopiedSequence[];
}

/**
 * Fills an empty, marked database: makes the tables as they were when the copy was made, loads all rows in one
 * transaction, then migrates to this version. A crash leaves the mark, and no rows or all rows.
 */
export async function loadDatabase(
  client: pg.Client,
  copy: string,
  manifest: DumpedTables,
  options: { readonly halted: ReadonlyMap<string, string>; progress(text: string): void },
): Promise<void> {
  await migrateTables(client, manifest.migrations.length);
  await migrateQueueTables(client);
  await client.query('BEGIN');
  await enterCopyScope(client);
  for (const target of await copiedTables(client)) {
    const table = manifest.tables.find(({ schema, name }) => schema === target.schema && name === target.name);
    if (!table) continue;
    requireColumns(table, target);
    // The types are those of this database: they stand in SQL text, and the manifest is only data.
    const columns = table.columns.map(({ name }) => target.columns.find((each) => each.name === name)!);
    let rows = 0;
    for await (const some of chunks(join(copy, table.file))) {
      await insertTableRows(client, { ...target, columns }, some);
      rows += some.length;
      options.progress(`${table.schema}.${table.name}: ${rows} of ${table.rows} rows`);
    }
    if (rows !== table.rows) throw new Error(`${table.file} has ${rows} rows, the manifest says ${table.rows}`);
  }
  for (const sequence of manifest.sequences) await setSequence(client, sequence);
  for (const [log, reason] of options.halted) await haltCopiedLog(client, log, reason);
  await client.query('COMMIT');
  await migrateTables(client);
  await migrateQueueTables(client);
  await client.query('ANALYZE');
}

function requireColumns(table: CopiedTable, target: CopiedTable): void {
  const missing = table.columns.find(({ name }) => !target.columns.some((each) => each.name === name));
  if (missing)
    throw new Error(
      `this version has no column ${table.schema}.${table.name}.${missing.name}: restore with the version that made the copy`,
    );
}

async function* chunks(path: string): AsyncGenerator<CopiedValue[][]> {
  let some: CopiedValue[][] = [];
  for await (const row of readJsonLines(path)) {
    some.push(row as CopiedValue[]);
    if (some.length < ROWS_AT_ONCE) continue;
    yield some;
    some = [];
  }
  if (some.length > 0) yield some;
}
