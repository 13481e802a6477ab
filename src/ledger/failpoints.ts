/** Named points between two durable steps, where a test lets the service fail. */
export interface Failpoints {
  /** Resolves in production. A test's failpoint throws, waits or kills the process. */
  reach(name: string): Promise<void>;
}

export const noFailpoints: Failpoints = { reach: () => Promise.resolve() };

/**
 * Kills the process without clean-up when it reaches a named point for the n-th time.
 * @param setting `name` or `name:n`, n from 1; undefined for production
 * @param kill must not return to the caller
 * @throws {TypeError} for a setting of another form
 */
export function killingFailpoints(setting: string | undefined, kill: () => void): Failpoints {
  if (!setting) return noFailpoints;
  const parts = /^([a-z.-]+)(?::([1-9]\d{0,5}))?$/.exec(setting);
  if (!parts) throw new TypeError('a failpoint is name or name:n');
  const [, fatal, count] = parts;
  let left = Number(count ?? 1);
  return {
    async reach(name) {
      if (name !== fatal) return;
      left -= 1;
      if (left > 0) return;
      kill();
      // The signal is on its way; no code after this point may run before it arrives.
      await new Promise(() => {});
    },
  };
}
