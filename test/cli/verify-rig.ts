import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { sampleSigners } from '../core/verify/sample-transparent-statement.js';
import { commandLine } from '../support/command-line.js';

type Signer = (typeof sampleSigners)['issuer'];

/** A JWK set of these signers' public keys. */
export function keySet(...signers: readonly Signer[]): string {
  return JSON.stringify({ keys: signers.map((signer) => signer.publicKey) });
}

/** A folder of evidence, and `verify` as somebody types it who has the keys of the sample log and issuer. */
export function verifyRig(name: string) {
  const folder = mkdtempSync(join(tmpdir(), `${name}-`));
  function file(path: string, content: string | Uint8Array): string {
    const place = join(folder, path);
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(place, content);
    return place;
  }
  const logKeys = file('log-keys.json', keySet(sampleSigners.sealer, sampleSigners.statementLog));
  const issuerKeys = file('issuer-keys.json', keySet(sampleSigners.issuer));
  return {
    folder,
    file,
    /** The keys that `verify` is given. */
    trust: { log_keys: [logKeys], issuer_keys: [issuerKeys] },
    verify: (...args: string[]) => commandLine(['verify', '--log-keys', logKeys, '--issuer-keys', issuerKeys, ...args]),
    remove: () => rmSync(folder, { recursive: true }),
  };
}
