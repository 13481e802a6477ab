/** Writing so much text takes a server a few milliseconds, and the embedded engine 20 if it is made of short values. */
const PIECE = 96 * 1024;

/**
 * Yields rows as JSON arrays of about 96 KiB, for `jsonb_to_recordset`; a larger row is one array. A statement for each
 * array lets other requests be served in between. `more` is true for all but the last.
 * @param beside how much of a row goes to the database beside its JSON, in characters
 */
export function* jsonRows<Row>(
  rows: readonly Row[],
  jsonOf: (row: Row) => string = JSON.stringify,
  beside: (row: Row) => number = () => 0,
): Generator<{ readonly json: string; readonly rows: readonly Row[]; readonly more: boolean }> {
  let texts: string[] = [];
  let length = 0;
  for (const [place, row] of rows.entries()) {
    const text = jsonOf(row);
    texts.push(text);
    length += text.length + beside(row);
    const more = place < rows.length - 1;
    if (length < PIECE && more) continue;
    yield { json: `[${texts.join(',')}]`, rows: rows.slice(place + 1 - texts.length, place + 1), more };
    texts = [];
    length = 0;
  }
}
