import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { UsageError } from '../../core/evidence/usage-error.js';
import { makeFolder } from '../../platform/durable-file.js';
import { failureReason } from '../../platform/explain-failure.js';
import { requireMigrated } from '../../platform/postgres/migrate.js';
import {
  appliedMigrations,
  type CopiedSequence,
  type CopiedTable,
  type CopiedValue,
  copiedSequences,
  copiedTables,
  enterCopyScope,
  type OwnerClient,
  tableRows,
} from '../../platform/postgres/table-copy-store.js';
import { type CopiedDatabase, copiedState } from './copied-state-store.js';
import { type HashedFile, writeJsonLines } from './hashed-file.js';

/** What one snapshot of the database was written to. */
interface DumpedDatabase {
  readonly state: CopiedDatabase;
  readonly migrations: readonly string[];
  readonly tables: readonly (CopiedTable & { readonly rows: number; readonly file: string })[];
  readonly sequences: readonly CopiedSequence[];
  readonly files: readonly (HashedFile & { readonly path: string })[];
}

/**
 * Writes every table to `database/<schema>.<table>.jsonl.gz` in a folder, all as of one moment. Each line is a JSON
 * array of a row's values in PostgreSQL's text form. What an interrupted run has left in the folder is removed first.
 * @param place the folder for a deployment
 * @returns undefined if no service has started on this database
 * @throws {UsageError} if another version made the database, or the folder cannot be made
 */
export async function dumpDatabase(
  client: OwnerClient,
  place: (deployment: string) => Promise<string>,
  progress: (text: string) => void,
): Promise<DumpedDatabase | undefined> {
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  try {
    await enterCopyScope(client);
    const migrations = await appliedMigrations(client);
    if (migrations.length === 0) return undefined;
    await requireMigrated(client).catch((error: Error) => {
      throw new UsageError(`the database cannot be copied: ${error.message}`);
    });
    const state = await copiedState(client);
    if (!state) return undefined;
    const folder = await place(state.deployment);
    await makeEmpty(folder);
    const tables: (CopiedTable & { rows: number; file: string })[] = [];
    const files: (HashedFile & { path: string })[] = [];
    for (const table of await copiedTables(client)) {
      const file = `database/${table.schema}.${table.name}.jsonl.gz`;
      let rows = 0;
      const written = await writeJsonLines(
        join(folder, file),
        counted(client, table, () => {
          rows += 1;
          if (rows % 10_000 === 0) progress(`${table.schema}.${table.name}: ${rows} rows`);
        }),
      );
      tables.push({ ...table, rows, file });
      files.push({ path: file, ...written });
    }
    return { state, migrations, tables, sequences: await copiedSequences(client), files };
  } finally {
    await client.query('ROLLBACK');
  }
}

async function makeEmpty(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true });
    await makeFolder(folder);
  } catch (error) {
    throw new UsageError(`cannot write there: ${failureReason(error)}. Give a folder that this user may write`);
  }
}

async function* counted(client: OwnerClient, table: CopiedTable, count: () => void): AsyncGenerator<CopiedValue[]> {
  for await (const rows of tableRows(client, table))
    for (const row of rows) {
      count();
      yield row;
    }
}
