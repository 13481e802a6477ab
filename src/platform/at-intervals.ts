/**
 * Runs `once` at this interval in milliseconds until it is closed, one run at a time, without keeping the process
 * alive. Closing waits for a run in progress.
 * @param once must not reject
 */
export function atIntervals(everyMs: number, once: () => Promise<unknown>): { close(): Promise<void> } {
  let running: Promise<unknown> | undefined;
  const timer = setInterval(() => {
    running ??= once().finally(() => {
      running = undefined;
    });
  }, everyMs).unref();
  return {
    async close() {
      clearInterval(timer);
      await running;
    },
  };
}
