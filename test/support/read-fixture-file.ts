import { readFileSync } from 'node:fs';

/** One of our known answers, by its path under fixtures. */
export function readFixtureFile<Known>(path: string): Known {
  return JSON.parse(readFileSync(new URL(`../../fixtures/${path}`, import.meta.url), 'utf8')) as Known;
}
