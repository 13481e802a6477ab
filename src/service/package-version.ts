import { createRequire } from 'node:module';

/** From the package's own description, which lies above the sources and above the build. */
export function packageVersion(): string {
  const require = createRequire(import.meta.url);
  for (const path of ['../../package.json', '../../../package.json']) {
    try {
      return (require(path) as { version: string }).version;
    } catch {
      // Built files lie one folder deeper than sources.
    }
  }
  return 'unknown';
}
