/**
 * Returns a function that makes a value when it is first called, and keeps it for all later calls. A failed attempt is not
 * kept: the next call makes another one.
 */
export function keepMade<Made>(make: () => Promise<Made>): () => Promise<Made> {
  let made: Promise<Made> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}
