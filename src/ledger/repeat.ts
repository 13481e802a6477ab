/** A task that repeats until it is stopped. */
interface Repeat {
  start(): void;
  /** Resolves when the last run has ended. */
  stop(): Promise<void>;
}

/** Runs `once`, which must not reject, waits for `waitMs`, and repeats: never two runs at a time. */
export function createRepeat(waitMs: () => number, once: () => Promise<void>): Repeat {
  let running: Promise<void> | undefined;
  let wake: (() => void) | undefined;
  let stopped = false;

  function pause(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, waitMs());
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async function untilStopped(): Promise<void> {
    while (!stopped) {
      await once();
      if (!stopped) await pause();
    }
  }

  return {
    start() {
      running ??= untilStopped();
    },
    async stop() {
      stopped = true;
      wake?.();
      await running;
    },
  };
}
