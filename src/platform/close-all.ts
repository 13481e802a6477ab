/** What closes the parts that were opened, in the order of their opening. */
export type Closers = (() => Promise<unknown>)[];

/** Calls all closers, the last one first, also after one of them failed. @throws the first error */
export async function closeAll(closers: Closers): Promise<void> {
  const failures: unknown[] = [];
  for (let closer = closers.pop(); closer; closer = closers.pop())
    try {
      await closer();
    } catch (error) {
      failures.push(error);
    }
  if (failures.length > 0) throw failures[0];
}
