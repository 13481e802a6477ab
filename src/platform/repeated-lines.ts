const WINDOW_MS = 60_000;
/** Causes that are remembered; beyond this all are forgotten, and each may be logged again. */
const MOST_CAUSES = 1_000;

/** The parts of a log line that name its cause. An incident is named to a caller, so each must be in the log. */
interface LoggedError {
  readonly err?: unknown;
  readonly incident?: unknown;
  readonly logId?: unknown;
}

/** The code names the cause where there is one: messages differ by file, address or time. */
function causeOf(line: unknown, message: unknown): string | undefined {
  const { err, incident, logId } = (line ?? {}) as LoggedError;
  if (!(err instanceof Error) || incident !== undefined) return undefined;
  const { code } = err as { code?: unknown };
  return typeof code === 'string' ? `${String(message)} ${code}` : `${String(message)} ${err.message} ${String(logId)}`;
}

/**
 * Lets an error into the log once a minute. Returns a function that says how often the same error was left out since its
 * last line, or undefined if this line must be left out too. Lines without an error are never left out.
 */
export function limitRepeatedErrors(now: () => number): (line: unknown, message: unknown) => number | undefined {
  const seen = new Map<string, { readonly atMs: number; leftOut: number }>();
  return (line, message) => {
    const cause = causeOf(line, message);
    if (cause === undefined) return 0;
    const last = seen.get(cause);
    const atMs = now();
    if (last && Math.abs(atMs - last.atMs) < WINDOW_MS) {
      last.leftOut += 1;
      return undefined;
    }
    if (seen.size >= MOST_CAUSES) seen.clear();
    seen.set(cause, { atMs, leftOut: 0 });
    return last?.leftOut ?? 0;
  };
}
