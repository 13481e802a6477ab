import { createPrivateKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { utf8 } from '../../core/bytes.js';
import { createFile } from '../durable-file.js';
import { failureReason } from '../explain-failure.js';
import { keyIdOf } from './key-id.js';
import { KEY_KINDS } from './key-role.js';
import type { KeyStore } from './key-store.js';
import { newKeyPairApart } from './new-key-pair.js';
import { nodePrivateKey } from './node-private-key.js';

const SAFE_NAME = /^[A-Za-z0-9_-]+$/;
const MODE = 0o600;

/**
 * Private halves as PEM files in a folder that all nodes share: mode 0600, named by key id.
 * @param newPair makes the pairs
 */
export function keyFiles(folder: string, newPair = newKeyPairApart): KeyStore {
  const place = (keyId: string): string => {
    if (!SAFE_NAME.test(keyId)) throw new TypeError('not a key id');
    return join(folder, `${keyId}.pem`);
  };
  const advice = (keyId: string): string =>
    `restore ${place(keyId)}, or set KEYS_DIR to its folder or KEY_PROVIDER to its module`;
  return {
    async generate(role) {
      const { publicKey, privateKey } = await newPair(KEY_KINDS[role].generate);
      const publicJwk = publicKey.export({ format: 'jwk' }) as Record<string, string>;
      const keyId = await keyIdOf(publicJwk);
      const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
      if (!(await createFile(place(keyId), utf8(pem), MODE))) throw new Error(`there is a key ${keyId} already`);
      return { keyId, publicJwk };
    },
    async open({ keyId }) {
      try {
        return nodePrivateKey(createPrivateKey(await readFile(place(keyId))));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        throw new Error(
          `The private half of the active key ${keyId} cannot be read (${failureReason(error)}): ${advice(keyId)}.`,
        );
      }
    },
    advice,
    close: async () => undefined,
  };
}
