import type { CheckResult } from './check-evidence.js';

/** The command that repeats a check. */
export function repeatCommand({ files, fingerprint }: Extract<CheckResult, { verdict: unknown }>): string {
  const root = fingerprint === undefined ? '--log-keys … --issuer-keys …' : `--root ${fingerprint}`;
  return `vcon-archivist verify ${root} ${files.map(({ file }) => quoted(file)).join(' ')}`;
}

/** A name as one word of a shell, whatever characters it has. */
const quoted = (name: string): string => (/^[\w./-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`);
