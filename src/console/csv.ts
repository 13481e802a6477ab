/**
 * A table as CSV (RFC 4180), with a byte order mark, which spreadsheets need to read it as UTF-8. Evidence chooses the
 * texts: a cell that a spreadsheet would run as a formula begins with an apostrophe instead.
 */
export function csvOf(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  return `\ufeff${[titles, ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('')}`;
}

function cell(text: string): string {
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
