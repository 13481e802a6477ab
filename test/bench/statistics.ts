/** The middle value; the mean of the two middle ones of an even number. NaN of none. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** The smallest value that at least this share (0 to 1) of the values does not exceed. NaN of none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

/** Rounded to three significant digits or to a whole number, whichever is finer: more would be noise. */
export function rounded(value: number): number {
  return Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(3));
}

/** A number of different members, each as likely as any other; all of them when there are no more. */
export function randomSample<Value>(values: readonly Value[], count: number): Value[] {
  const pool = [...values];
  const taken = Math.min(count, pool.length);
  for (let place = 0; place < taken; place += 1) {
    const other = place + Math.floor(Math.random() * (pool.length - place));
    [pool[place], pool[other]] = [pool[other]!, pool[place]!];
  }
  return pool.slice(0, taken);
}
