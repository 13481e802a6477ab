import { createRequire } from 'node:module';

/** The version in package.json, which is above both the sources and the build. */
export function packageVersion(): string {
  const require = createRequire(import.meta.url);
  for (const path of ['../../package.json', '../../../package.json']) {
    try {
      return (require(path) as { version: string }).version;
    } catch {
      // Built files are one folder deeper than sources.
    }
  }
  return 'unknown';
}
