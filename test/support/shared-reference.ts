import { existsSync, readFileSync } from 'node:fs';

/** A file of facts beside the repository, parsed; undefined where there is none. */
export function sharedReference(name: string): unknown {
  const file = new URL(`../../../shared/reference/${name}`, import.meta.url);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}
