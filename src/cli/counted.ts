/** Returns a count with its noun: `1 leaf`, `2 leaves`. @param many the plural, if it is not the noun with an s */
export const counted = (count: number | bigint | string, one: string, many = `${one}s`): string =>
  `${count} ${String(count) === '1' ? one : many}`;
