import { createHmac } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fromBase64, toBase64Url, utf8 } from '../../core/bytes.js';
import { createFile } from '../durable-file.js';
import { TOKEN_PEPPER } from './key-role.js';

const MODE = 0o600;
const SECRET_BYTES = 32;

/** Secrets of a deployment that do not sign: files of mode 0600 in `KEYS_DIR`, shared by all nodes. */
export interface SecretFiles {
  /** A secret of 32 bytes, created at first use; nodes that start together get the same one. */
  secret(name: string, randomBytes: (count: number) => Uint8Array): Promise<Uint8Array>;
}

/** Identifies a secret without revealing it. */
export function secretFingerprint(secret: Uint8Array): string {
  return createHmac('sha256', secret).update('fingerprint').digest('base64url');
}

/** Undefined for a file that is damaged. */
function secretIn(text: string): Uint8Array | undefined {
  try {
    const secret = fromBase64(text);
    return secret.length === SECRET_BYTES ? secret : undefined;
  } catch {
    return undefined;
  }
}

/** Client secrets are checked with the pepper, so nothing can replace it. */
function wayOut(name: string): string {
  return name === TOKEN_PEPPER
    ? 'restore it from a backup of KEYS_DIR'
    : 'delete it, and the next start makes a new one (docs/operate/keys.md)';
}

export function secretFiles(folder: string): SecretFiles {
  return {
    async secret(name, randomBytes) {
      const file = join(folder, name);
      const known = await readFile(file, 'utf8').catch(() => undefined);
      if (known === undefined) await createFile(file, utf8(toBase64Url(randomBytes(SECRET_BYTES))), MODE);
      const secret = secretIn(known ?? (await readFile(file, 'utf8')));
      if (!secret) throw new Error(`${file} does not hold a secret of ${SECRET_BYTES} bytes: ${wayOut(name)}`);
      return secret;
    },
  };
}
