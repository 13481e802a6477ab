import type { Finding } from './finding.js';

/** Checks that fail because of another one, by the check that names the cause. */
const CONSEQUENCES: Readonly<Record<string, readonly string[]>> = {
  redis: ['queue', 'doubles'],
  'redis append-only file': ['redis fsync policy', 'durability'],
  'conserver redis': ['capture'],
  service: ['data folder'],
  'dry run': ['dry-run event'],
};

/** Returns the findings without those that only repeat the cause of a broken one: one cause gives one line. */
export function oneLineForEachCause(findings: readonly Finding[]): Finding[] {
  const explained = new Set(
    findings.filter(({ state }) => state === 'broken').flatMap(({ check }) => CONSEQUENCES[check] ?? []),
  );
  return findings.filter(({ check, state }) => state === 'ok' || !explained.has(check));
}
