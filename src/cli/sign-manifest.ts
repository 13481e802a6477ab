import { createPrivateKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { toBase64Url } from '../core/bytes.js';
import { keyThumbprint } from '../core/cose/cose-key.js';
import { VerificationError } from '../core/errors.js';
import { UsageError } from '../core/evidence/usage-error.js';
import type { KeyManifest } from '../core/keys/key-manifest.js';
import { readKeyManifest } from '../core/keys/read-key-manifest.js';
import { rootFingerprint } from '../core/keys/root-fingerprint.js';
import { completeKeyManifest } from '../core/keys/sign-key-manifest.js';
import { nodeSigner } from '../platform/keys/evidence-signer.js';
import { readInput } from './read-input.js';
import { writeOutput } from './write-output.js';

/**
 * Signs a proposed key manifest with a root key in a file, and writes it to another file. Resolves with what was signed, as
 * lines for the signer: every key, its state and its interval.
 * @throws {UsageError} if a file cannot be used, or the manifest needs the signature of another root key
 */
export async function signManifestFile(
  file: string,
  { rootKey, output }: { readonly rootKey: string; readonly output: string },
): Promise<string[]> {
  const pem = await readFile(rootKey).catch(() => {
    throw new UsageError(`--root-key: ${rootKey} cannot be read`);
  });
  const signer = signerOf(pem, rootKey);
  try {
    const unsigned = await readInput(file);
    const manifest = proposedManifest(unsigned, file);
    await writeOutput('--output', output, await completeKeyManifest(unsigned, signer));
    return signedLines(manifest, output);
  } catch (error) {
    if (error instanceof VerificationError) throw new UsageError(`${file}: ${error.message}`);
    throw error;
  }
}

function proposedManifest(unsigned: Uint8Array, file: string): KeyManifest {
  try {
    return readKeyManifest(unsigned).manifest;
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    throw new UsageError(`${file} is not a key manifest as keys propose writes it (${error.message})`);
  }
}

function signerOf(pem: Buffer, path: string) {
  try {
    return nodeSigner(createPrivateKey(pem));
  } catch {
    throw new UsageError(`--root-key: ${path} must be a private P-256 or Ed25519 key in PEM`);
  }
}

function signedLines({ number, keys, root, subject, issuer }: KeyManifest, output: string): string[] {
  const time = (ms: number) => new Date(ms).toISOString();
  const shown = keys.map(({ state, role, keyId, validFromMs, validUntilMs }) => {
    const until = validUntilMs === undefined ? '' : ` to ${time(validUntilMs)}`;
    return `${state.padEnd(7)}  ${role.padEnd(17)}  ${keyId}  ${time(validFromMs)}${until}`;
  });
  return [
    `Signed key manifest ${number} of ${issuer} (${subject}):`,
    ...shown,
    `The next manifest is signed by the root key ${toBase64Url(keyThumbprint(root))}: ${rootFingerprint(keyThumbprint(root))}`,
    `It is in ${output}. Publish it: vcon-archivist keys publish ${output}`,
  ];
}
