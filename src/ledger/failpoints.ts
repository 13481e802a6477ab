import { readFileSync } from 'node:fs';

/** Named points between two durable steps, where a test lets the service fail. */
export interface Failpoints {
  /** Resolves in production. A test's failpoint throws, waits or kills the process. */
  reach(name: string): Promise<void>;
}

export const noFailpoints: Failpoints = { reach: () => Promise.resolve() };

/**
 * Kills the process without clean-up when it reaches a named point for the n-th time.
 * @param setting `name` or `name:n`, n from 1; `file:` and a path, to arm a running process: from when the file exists,
 * the process is killed at the first arrival at the point that it names; undefined for production
 * @param kill must not return to the caller
 * @throws {TypeError} for a setting of another form
 */
export function killingFailpoints(setting: string | undefined, kill: () => void): Failpoints {
  if (!setting) return noFailpoints;
  const isFatal = setting.startsWith('file:') ? namedIn(setting.slice('file:'.length)) : counted(setting);
  return {
    async reach(name) {
      if (!isFatal(name)) return;
      kill();
      // The signal is on its way; no code after this point may run before it arrives.
      await new Promise(() => {});
    },
  };
}

function counted(setting: string): (name: string) => boolean {
  const parts = /^([a-z.-]+)(?::([1-9]\d{0,5}))?$/.exec(setting);
  if (!parts) throw new TypeError('a failpoint is name, name:n, or file:path');
  const [, fatal, count] = parts;
  let left = Number(count ?? 1);
  return (name) => {
    if (name !== fatal) return false;
    left -= 1;
    return left <= 0;
  };
}

function namedIn(path: string): (name: string) => boolean {
  return (name) => {
    try {
      return readFileSync(path, 'utf8') === name;
    } catch {
      return false;
    }
  };
}
