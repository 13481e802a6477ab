/** Requests that are about to submit something, such as a statement whose signature is being checked. */
export interface ExpectedSubmissions {
  /** Announces one. The result withdraws it, once: when it is submitted, or when nothing will be. */
  expect(): () => void;
  /** Resolves when none is announced any more, at the latest after the time limit. */
  arrived(): Promise<void>;
}

/** @param mostMs how long `arrived` waits at most */
export function createExpectedSubmissions(mostMs: number): ExpectedSubmissions {
  let expected = 0;
  const waiting = new Set<() => void>();
  return {
    expect() {
      expected += 1;
      let isOver = false;
      return () => {
        if (isOver) return;
        isOver = true;
        expected -= 1;
        if (expected === 0) for (const wake of [...waiting]) wake();
      };
    },
    arrived() {
      if (expected === 0) return Promise.resolve();
      return new Promise((resolve) => {
        const wake = (): void => {
          clearTimeout(late);
          waiting.delete(wake);
          resolve();
        };
        const late = setTimeout(wake, mostMs);
        waiting.add(wake);
      });
    },
  };
}
