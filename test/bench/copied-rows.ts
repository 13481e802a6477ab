import pg from 'pg';
import { postmasterOf, serverSeconds } from './processor-time.js';

/** Processor time is told in hundredths of a second: so many rows at least take some of them. */
const ROWS = 20_000;

/**
 * Microseconds of a server's processor time for the rows of one item, with their indexes, if one statement for each table
 * copies all of them and nothing else is done: what an item's rows cost in any case. Undefined if the server runs on another
 * machine.
 * @param of the table that has one row for each item
 */
export async function copiedRowsMicros(
  databaseUrl: string,
  of: string,
  tables: readonly string[],
): Promise<number | undefined> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const postmaster = await postmasterOf(client);
    if (postmaster === undefined) return undefined;
    const { rows } = await client.query<{ items: string }>(`SELECT count(*) AS items FROM archivist.${of}`);
    const items = Number(rows[0]!.items);
    const rounds = Math.ceil(ROWS / items);
    let seconds = 0;
    for (const table of tables) {
      const columns = await storedColumns(client, table);
      const copy = `public.copied_${table}`;
      await client.query(`CREATE TABLE ${copy} (LIKE archivist.${table} INCLUDING ALL)`);
      const before = await serverSeconds(postmaster);
      for (let round = 0; round < rounds; round += 1) {
        await client.query(`TRUNCATE ${copy}`);
        await client.query(`INSERT INTO ${copy} (${columns}) SELECT ${columns} FROM archivist.${table}`);
      }
      seconds += (await serverSeconds(postmaster)) - before;
      await client.query(`DROP TABLE ${copy}`);
    }
    return (seconds * 1e6) / (items * rounds);
  } finally {
    await client.end();
  }
}

/** Without those that the server makes itself. */
async function storedColumns(client: pg.Client, table: string): Promise<string> {
  const { rows } = await client.query<{ columns: string }>(
    `SELECT string_agg(quote_ident(column_name), ', ') AS columns FROM information_schema.columns
      WHERE table_schema = 'archivist' AND table_name = $1 AND is_generated = 'NEVER'`,
    [table],
  );
  return rows[0]!.columns;
}
