import { existsSync, readFileSync } from 'node:fs';

const SHARED = new URL('../../../../shared/vectors/', import.meta.url);

/** The published known answers of this name, or undefined on a machine that does not have them. */
export function sharedVectors(name: string): unknown {
  const file = new URL(name, SHARED);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

/** A known answer of our own, relative to `fixtures/`. */
export function fixture(path: string): unknown {
  return JSON.parse(readFileSync(new URL(`../../../fixtures/${path}`, import.meta.url), 'utf8'));
}
