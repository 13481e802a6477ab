import type { Ids } from '../../platform/ids.js';
import type { Keyring } from '../../platform/keys/keyring.js';
import { createSealedBox, type SealedBox } from '../../platform/keys/sealed-box.js';

/** Where the secrets of webhooks are encrypted: they sign deliveries, so their hashes would not do. */
export function webhookSecrets({ keyring, ids }: { readonly keyring: Keyring; readonly ids: Ids }): SealedBox {
  return createSealedBox(keyring.pepper, 'secrets of webhooks', (count) => ids.randomBytes(count));
}
