import { LRUCache } from 'lru-cache';
import { toBase64Url } from '../core/bytes.js';
import { Header } from '../core/cose/labels.js';
import { decodeStatement } from '../core/statement/decode-statement.js';
import { attachedReceipts } from '../core/statement/transparent-statement.js';
import type { LedgerContext } from './ledger-context.js';
import { type CountedKeys, countedKeys, isRevoked } from './log-keys.js';

/** What is kept while one set of keys counts. */
interface KeptUnderKeys<Value> {
  /** The set. Make from the seals of these keys what is to be kept. */
  readonly keys: CountedKeys;
  find(name: string): Value | undefined;
  /**
   * Keeps a value that was made under these keys. Returns false, and keeps nothing, if a revoked key signed it: a later
   * seal replaces it.
   */
  keep(name: string, value: Value): boolean;
}

/**
 * Keeps the signed messages that were used last, up to `maxBytes`, where an entry costs `entryBytes` beside its message.
 * Call the returned function once for each look-up: it takes the keys that count then. What is made while a revocation
 * becomes known is kept under the keys of its look-up, where nobody finds it any more.
 */
export function keepUnderKeys<Value extends { readonly bytes: Uint8Array }>(
  keyring: Pick<LedgerContext['keyring'], 'everyKey'>,
  { maxBytes, entryBytes }: { readonly maxBytes: number; readonly entryBytes: number },
): () => KeptUnderKeys<Value> {
  const kept = new LRUCache<string, Value>({
    maxSize: maxBytes,
    sizeCalculation: ({ bytes }) => bytes.length + entryBytes,
  });
  return () => {
    const keys = countedKeys(keyring);
    const keyOf = (name: string): string => [name, ...keys.revoked].join('/');
    return {
      keys,
      find: (name) => kept.get(keyOf(name)),
      keep(name, value) {
        if (keys.revoked.length > 0 && isByRevokedKey(keys, value.bytes)) return false;
        kept.set(keyOf(name), value);
        return true;
      },
    };
  };
}

/** Whether a revoked key signed a message, or a receipt that it carries. */
function isByRevokedKey(keys: CountedKeys, message: Uint8Array): boolean {
  const { protectedHeader, unprotectedHeader } = decodeStatement(message);
  const kid = protectedHeader.get(Header.kid);
  if (kid instanceof Uint8Array && isRevoked(keys, toBase64Url(kid))) return true;
  return attachedReceipts(unprotectedHeader).some((receipt) => isByRevokedKey(keys, receipt));
}
