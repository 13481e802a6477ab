import { createHmac, createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fromBase64, toBase64Url, utf8 } from '../../core/bytes.js';
import { createFile } from '../durable-file.js';
import { failureReason } from '../explain-failure.js';
import { KEY_KINDS, type KeyRole } from './key-role.js';

const SAFE_NAME = /^[A-Za-z0-9_-]+$/;
const MODE = 0o600;
const SECRET_BYTES = 32;

/** The folder of private halves and secrets: mode 0600, shared by all nodes. */
export interface KeyFiles {
  /** @throws when the file exists */
  save(keyId: string, key: KeyObject): Promise<void>;
  /** @throws {Error} naming the file when it is missing or holds no key */
  load(keyId: string): Promise<KeyObject>;
  /** A secret of 32 bytes, made at first use; nodes that start together get the same one. */
  secret(name: string, randomBytes: (count: number) => Uint8Array): Promise<Uint8Array>;
}

/** By which a secret can be known again and not found out. */
export function secretFingerprint(secret: Uint8Array): string {
  return createHmac('sha256', secret).update('fingerprint').digest('base64url');
}

export function keyFiles(folder: string): KeyFiles {
  const place = (name: string): string => {
    if (!SAFE_NAME.test(name)) throw new TypeError('not a key id');
    return join(folder, name);
  };
  return {
    async save(keyId, key) {
      const pem = key.export({ type: 'pkcs8', format: 'pem' }) as string;
      if (!(await createFile(`${place(keyId)}.pem`, utf8(pem), MODE)))
        throw new Error(`there is a key ${keyId} already`);
    },
    async load(keyId) {
      const file = `${place(keyId)}.pem`;
      try {
        return createPrivateKey(await readFile(file));
      } catch (error) {
        const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
        const state = missing ? 'is missing' : `cannot be read (${failureReason(error)})`;
        throw new Error(
          `The private half of the active key ${keyId} ${state}: restore ${file}, or set KEYS_DIR to its folder.`,
        );
      }
    },
    async secret(name, randomBytes) {
      const file = place(name);
      const known = await readFile(file, 'utf8').catch(() => undefined);
      if (known === undefined) await createFile(file, utf8(toBase64Url(randomBytes(SECRET_BYTES))), MODE);
      const secret = fromBase64(known ?? (await readFile(file, 'utf8')));
      if (secret.length !== SECRET_BYTES) throw new Error(`${file} does not hold a secret of ${SECRET_BYTES} bytes`);
      return secret;
    },
  };
}

/** A new private key of a role. */
export function generateKey(role: KeyRole): KeyObject {
  const { type, curve } = KEY_KINDS[role].generate;
  if (type === 'ed25519') return generateKeyPairSync('ed25519').privateKey;
  if (type === 'rsa') return generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  return generateKeyPairSync('ec', { namedCurve: curve! }).privateKey;
}
