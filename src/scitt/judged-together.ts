const AT_ONCE = 64;
const BYTES_AT_ONCE = 256 * 1024;

/**
 * Yields the statements of a bulk registration, in their order, in groups whose signatures are checked at the same time:
 * 64 statements or 256 KiB, but one at least. What is done with a statement grows with its length, and the threads that
 * check signatures end many at once, so a larger group would hold up every other request.
 */
export function* judgedTogether(statements: readonly Uint8Array[]): Generator<readonly Uint8Array[]> {
  let some: Uint8Array[] = [];
  let bytes = 0;
  for (const statement of statements) {
    const isFull = some.length === AT_ONCE || bytes + statement.length > BYTES_AT_ONCE;
    if (isFull && some.length > 0) {
      yield some;
      some = [];
      bytes = 0;
    }
    some.push(statement);
    bytes += statement.length;
  }
  if (some.length > 0) yield some;
}
