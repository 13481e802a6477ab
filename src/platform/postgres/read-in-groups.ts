/** What so many entries have stored is read by one statement. */
const AT_ONCE = 125;

/**
 * Reads what belongs to these items, by a statement for each 125 of them, all sent at once; results are in the order of
 * the groups. On the embedded engine nothing else is served while a statement runs and its rows are read.
 * @throws the first error, when every statement has ended: none may follow the end of the transaction
 */
export async function readInGroups<Item, Result>(
  items: readonly Item[],
  read: (some: readonly Item[]) => Promise<readonly Result[]>,
): Promise<Result[]> {
  const groups = Array.from({ length: Math.ceil(items.length / AT_ONCE) }, (_, place) =>
    read(items.slice(place * AT_ONCE, (place + 1) * AT_ONCE)),
  );
  await Promise.allSettled(groups);
  return (await Promise.all(groups)).flat();
}
