/** What `array_recv` reads before the values: one dimension, which may have NULL, of type bytea, … */
const HEAD = [1, 1, 17];
/** … of so many values, the first of which has the number 1. */
const HEAD_BYTES = 4 * (HEAD.length + 2);

/**
 * A value for `bytea[]` in the database's binary form, which the driver sends as it is. As text, with two hexadecimal
 * digits for each byte, an array of statements cost the server ten times as much.
 */
export function bytesArray(values: readonly (Uint8Array | null | undefined)[]): Buffer {
  let length = HEAD_BYTES;
  for (const value of values) length += 4 + (value?.length ?? 0);
  const array = Buffer.allocUnsafe(length);
  let place = 0;
  for (const number of [...HEAD, values.length, 1]) place = array.writeInt32BE(number, place);
  for (const value of values) {
    place = array.writeInt32BE(value?.length ?? -1, place);
    if (!value) continue;
    array.set(value, place);
    place += value.length;
  }
  return array;
}
