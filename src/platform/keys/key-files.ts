import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdir, open, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { KEY_KINDS, type KeyRole } from './key-role.js';

const SAFE_NAME = /^[A-Za-z0-9_-]+$/;

/** The folder of private halves and secrets: mode 0600, shared by all nodes. */
export interface KeyFiles {
  /** @throws when the file exists */
  save(keyId: string, key: KeyObject): Promise<void>;
  /** @throws {Error} naming the file when it is missing */
  load(keyId: string): Promise<KeyObject>;
  /** A secret of 32 bytes, made at first use; nodes that start together get the same one. */
  secret(name: string, randomBytes: (count: number) => Uint8Array): Promise<Uint8Array>;
}

export function keyFiles(folder: string): KeyFiles {
  const place = (name: string): string => {
    if (!SAFE_NAME.test(name)) throw new TypeError('not a key id');
    return join(folder, name);
  };
  return {
    async save(keyId, key) {
      await createFile(`${place(keyId)}.pem`, key.export({ type: 'pkcs8', format: 'pem' }) as string);
    },
    async load(keyId) {
      const file = `${place(keyId)}.pem`;
      try {
        return createPrivateKey(await readFile(file));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
        throw new Error(
          `The private half of the active key ${keyId} is missing: restore ${file}, or set KEYS_DIR to its folder.`,
        );
      }
    },
    async secret(name, randomBytes) {
      const file = place(name);
      try {
        await createFile(file, Buffer.from(randomBytes(32)).toString('base64url'));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
      return new Uint8Array(Buffer.from(await readFile(file, 'utf8'), 'base64url'));
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

/** On disk, under its name, before anything refers to it. */
async function createFile(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const handle = await open(file, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  const folder = await open(dirname(file), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
