/**
 * Returns the last number for which something exists, if there are no gaps. Doubling and halving costs O(log n) questions.
 * @param low a number that exists, or the one before the first
 * @param first where to begin to look, above `low`
 */
export async function lastNumber(
  exists: (number: bigint) => Promise<boolean>,
  low: bigint,
  first = low + 1n,
): Promise<bigint> {
  let [known, high] = [low, first];
  for (let step = 1n; await exists(high); step *= 2n) [known, high] = [high, high + step];
  while (high - known > 1n) {
    const middle = (known + high) / 2n;
    if (await exists(middle)) known = middle;
    else high = middle;
  }
  return known;
}
