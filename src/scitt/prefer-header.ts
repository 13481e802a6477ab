/** How long a registration waits for its receipt by default. */
const USUAL_MS = 5_000;
const LONGEST_MS = 20_000;

/** The wait that a Prefer header requests (RFC 7240: `respond-async`, `wait=<seconds>`), in milliseconds. */
export function preferredWaitMs(prefer: string | undefined): number {
  const preferences = (prefer ?? '')
    .toLowerCase()
    .split(',')
    .map((each) => each.trim());
  const wait = preferences.map((each) => /^wait\s*=\s*(\d+)$/.exec(each)?.[1]).find((each) => each !== undefined);
  if (wait !== undefined) return Math.min(Number(wait) * 1_000, LONGEST_MS);
  return preferences.includes('respond-async') ? 0 : USUAL_MS;
}
