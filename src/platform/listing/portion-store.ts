import type { Tx } from '../postgres/database.js';

/** Rows of a list in its order. */
export interface Portion<Row> {
  readonly rows: Row[];
  /** True if the rows ended before the limit because of their size or of the rows that were read: others can follow. */
  readonly cut: boolean;
  /** The id up to which a filtered list was read, if that is beyond the last row. */
  readonly readTo?: string;
}

/** A portion ends after the row with which its large columns exceed this size. 1,000 rows of 2 kB fit. */
export const PORTION_BYTES = 2 * 1024 * 1024;
/** The most that the database decompresses to find the end of a portion. */
const DECOMPRESSED_BYTES = 32 * 1024 * 1024;
/** The most that PostgreSQL's two methods of compression save: bytes that one stored byte can stand for. */
const MOST_OF_A_BYTE = `CASE pg_column_compression(%) WHEN 'pglz' THEN 90 WHEN 'lz4' THEN 255 ELSE 1 END`;

/** An ordered query for rows of a list. */
interface PortionQuery {
  /** `SELECT … ORDER BY … LIMIT …`, with its `orderBy` among the members of a row. */
  readonly sql: string;
  readonly values: readonly unknown[];
  /** Members of a row that can be long: text, jsonb, or arrays. */
  readonly large: readonly string[];
  /** The order by members of a row: `"assetId" DESC`. */
  readonly orderBy: string;
  /** Where the portion ends; 2 MiB unless told. */
  readonly bytes?: number;
}

/**
 * Reads the first rows of a query, up to a limit in bytes and always at least one, with one statement. So neither the
 * database nor this process holds more of a list than that, even if each row is as large as a body may be. Short rows
 * are measured by what their columns occupy; only compressed ones are decompressed for it, one at a time.
 */
export async function readPortion<Row extends object>(tx: Tx, query: PortionQuery): Promise<Portion<Row>> {
  if (query.large.length === 0) return { rows: await tx.query<Row>(query.sql, query.values), cut: false };
  const before = `OVER (ORDER BY ${query.orderBy} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)`;
  const found = await tx.query<Row & Measured>(
    `SELECT * FROM
       (SELECT *, sum(${sumOf(query.large, exactSize)}) ${before} AS bytes_before FROM
         (SELECT *, lead(true) OVER (ORDER BY ${query.orderBy}) AS followed,
                 sum(${sumOf(query.large, largestSize)}) ${before} AS most_before FROM (${query.sql}) AS listed) AS listed
        WHERE coalesce(most_before, 0) < ${DECOMPRESSED_BYTES}) AS listed
      WHERE coalesce(bytes_before, 0) < ${query.bytes ?? PORTION_BYTES} ORDER BY ${query.orderBy}`,
    query.values,
  );
  const rows = found.map(({ bytes_before, most_before, followed, ...row }) => row as unknown as Row);
  return { rows, cut: found.at(-1)?.followed ?? false };
}

interface Measured {
  readonly bytes_before: unknown;
  readonly most_before: unknown;
  readonly followed: boolean | null;
}

function sumOf(columns: readonly string[], size: (column: string) => string): string {
  return `(${columns.map((column) => `coalesce(${size(`"${column}"`)}, 0)`).join(' + ')})::float8`;
}

/** Read without the value itself, which can be stored elsewhere. */
function largestSize(column: string): string {
  return `pg_column_size(${column})::float8 * ${MOST_OF_A_BYTE.replace('%', column)}`;
}

/** Appending nothing decompresses a text, a document or an array. */
function exactSize(column: string): string {
  return `CASE WHEN pg_column_compression(${column}) IS NULL THEN pg_column_size(${column})
               ELSE pg_column_size(${column} || '{}') END`;
}
