const STEP_MS = 50;
const LONGEST_PAUSE_MS = 2_000;

/**
 * What every connection to a Redis has in common: time limits for a server that does not answer, and pauses before it
 * connects again, which are in part random. A blocking command must ask for an answer within ten seconds.
 */
export const REDIS_OPTIONS = {
  connectTimeout: 10_000,
  /** A server that has not answered a command for so long counts as lost, even if the connection is open. */
  socketTimeout: 15_000,
  retryStrategy: (attempts: number): number =>
    Math.min(attempts * STEP_MS, LONGEST_PAUSE_MS) * (0.5 + Math.random() / 2),
} as const;
