const INT8 = 20;
const INT8_ARRAY = 1016;

interface Result {
  readonly rows: object[];
  readonly fields: readonly { readonly name: string; readonly dataTypeID: number }[];
}

function wide(value: unknown): unknown {
  if (typeof value === 'string') return BigInt(value);
  return Array.isArray(value) ? value.map(wide) : value;
}

/**
 * The rows of a result with int8 as bigint, which the driver leaves as text: sizes, indexes and counts are never rounded.
 * Not a type parser of the driver, because the queue shares its connections and the embedded engine takes none a query.
 */
export function withWideIntegers(result: Result): object[] {
  for (const { name, dataTypeID } of result.fields) {
    if (dataTypeID !== INT8 && dataTypeID !== INT8_ARRAY) continue;
    for (const row of result.rows as Record<string, unknown>[]) row[name] = wide(row[name]);
  }
  return result.rows;
}
