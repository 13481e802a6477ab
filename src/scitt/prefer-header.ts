/** How long a registration waits for its receipt unless the caller prefers another time. */
const USUAL_MS = 5_000;
const LONGEST_MS = 20_000;

/** The time to wait that a Prefer header asks for (RFC 7240: `respond-async`, `wait=<seconds>`), in milliseconds. */
export function preferredWaitMs(prefer: string | undefined): number {
  const preferences = (prefer ?? '')
    .toLowerCase()
    .split(',')
    .map((each) => each.trim());
  const wait = preferences.map((each) => /^wait\s*=\s*(\d{1,4})$/.exec(each)?.[1]).find((each) => each !== undefined);
  if (wait !== undefined) return Math.min(Number(wait) * 1_000, LONGEST_MS);
  return preferences.includes('respond-async') ? 0 : USUAL_MS;
}
