// Bit questions about numbers in 0…2^64−1, answered in 32-bit halves: machine words are far quicker than bigint loops.

const WORD = 2n ** 32n;

/** Returns the number of bits up to the highest set one: 0 for 0, 3 for 4…7. */
export function bitLength(value: bigint): number {
  return value < WORD ? 32 - Math.clz32(Number(value)) : 32 + bitLength(value >> 32n);
}

/** Returns the number of set bits. */
export function popcount(value: bigint): number {
  let count = 0;
  for (let rest = value; rest > 0n; rest >>= 32n)
    for (let word = Number(BigInt.asUintN(32, rest)) | 0; word !== 0; word &= word - 1) count++;
  return count;
}

/** Returns the number of clear bits below the lowest set one. @throws {RangeError} for 0, which has no set bit */
export function trailingZeros(value: bigint): number {
  if (value === 0n) throw new RangeError('zero has no lowest set bit');
  const word = Number(BigInt.asUintN(32, value));
  return word === 0 ? 32 + trailingZeros(value >> 32n) : 31 - Math.clz32(word & -word);
}
