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
 * The rows of a result with int8 as bigint, which the driver returns as text: sizes, indexes and counts are never
 * rounded. A type parser of the driver would also affect the queue's connections, and the embedded engine accepts none
 * per query.
 */
export function withWideIntegers(result: Result): object[] {
  for (const { name, dataTypeID } of result.fields) {
    if (dataTypeID !== INT8 && dataTypeID !== INT8_ARRAY) continue;
    for (const row of result.rows as Record<string, unknown>[]) row[name] = wide(row[name]);
  }
  return result.rows;
}
