/**
 * A table as CSV (RFC 4180), with a byte order mark, which spreadsheets need to read it as UTF-8. Evidence chooses the
 * texts: what a spreadsheet would run as a formula begins with an apostrophe instead.
 */
export function csvOf(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  return `\ufeff${[titles, ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('')}`;
}

/**
 * Also within a text: where numbers have a decimal comma, Excel separates cells at semicolons, and ignores quotation
 * marks that do not begin a cell.
 */
const FORMULA = /(?<=^|[;\t\r\n])(?=[=+\-@\t\r＝＋－＠])/g;

function cell(text: string): string {
  const harmless = text.replace(FORMULA, "'");
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
