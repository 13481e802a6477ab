import { LRUCache } from 'lru-cache';
import { toBase64 } from '../../../core/bytes.js';
import type { PrivateKey } from '../key-store.js';

const MOST = 64;

/**
 * Signs each recent message only once in the module, because many clients read the same checkpoint. Only for
 * deterministic algorithms.
 */
export function rememberSignatures(key: PrivateKey): PrivateKey {
  const signatures = new LRUCache<string, Promise<Uint8Array>>({ max: MOST });
  return {
    ...key,
    async sign(message) {
      const name = toBase64(message);
      const known = signatures.get(name) ?? key.sign(message);
      signatures.set(name, known);
      try {
        return Uint8Array.from(await known);
      } catch (error) {
        signatures.delete(name);
        throw error;
      }
    },
  };
}
