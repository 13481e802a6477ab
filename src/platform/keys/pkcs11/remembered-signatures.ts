import { LRUCache } from 'lru-cache';
import { toBase64 } from '../../../core/bytes.js';
import type { PrivateKey } from '../key-store.js';

const MOST = 64;

/**
 * Asks a module once for each of the last messages, however many ask: checkpoints are read by everybody. For algorithms alone
 * that sign the same message with the same bytes each time.
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
