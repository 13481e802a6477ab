import { z } from 'zod';

const DECIMAL = /^-?\d{1,20}(\.\d{1,30})?(e[+-]?\d{1,3})?$/i;

/**
 * A number that clients may also send as decimal text, as the original's examples show it
 * (docs/design/interface.md#shapes); the schema checks the number. Other text stays text, and is refused by the schema.
 */
export function orDecimalText<Schema extends z.ZodType<number | null | undefined>>(schema: Schema) {
  return z.preprocess((value) => (typeof value === 'string' && DECIMAL.test(value) ? Number(value) : value), schema);
}
