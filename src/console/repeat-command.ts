import { encodeVkey } from '../core/tlog/signed-note.js';
import type { CheckResult } from './check-evidence.js';

/**
 * The command that repeats a check, with all that the reader pinned. Keys that the evidence vouches for itself are left
 * out: in the command they would be trusted.
 */
export function repeatCommand(result: Extract<CheckResult, { verdict: unknown }>): string {
  const { files, origin, fingerprint, reader } = result;
  const root = origin === 'pinned_root' && fingerprint ? fingerprint : '…';
  return [
    'vcon-archivist verify',
    ...(origin === 'given_keys' ? [] : [`--root ${root}`]),
    ...(reader.keys.length > 0 ? ['--log-keys … --issuer-keys …'] : []),
    ...(reader.issuer === undefined ? [] : [`--issuer ${quoted(reader.issuer)}`]),
    ...reader.witnesses.map((witness) => `--witness ${quoted(encodeVkey(witness))}`),
    ...files.map(({ file }) => quoted(file.startsWith('-') ? `./${file}` : file)),
  ].join(' ');
}

/** A name as one word of a shell, whatever characters it has. */
const quoted = (name: string): string => (/^[\w./:+=-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`);
