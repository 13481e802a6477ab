/**
 * What to call each row where a person only hears the buttons: its name, and if several rows share it, a number after
 * all but the first.
 */
export function rowNames<Row>(rows: readonly Row[], nameOf: (row: Row) => string): ReadonlyMap<Row, string> {
  const taken = new Set(rows.map(nameOf));
  const given = new Set<string>();
  const names = new Map<Row, string>();
  for (const row of rows) {
    const first = nameOf(row);
    let name = first;
    for (let number = 2; given.has(name) || (name !== first && taken.has(name)); number += 1)
      name = `${first} (${number})`;
    given.add(name);
    names.set(row, name);
  }
  return names;
}
