import type { Logger } from '../logger.js';
import type { OutsideCalls } from '../outside-calls.js';
import { keyFiles } from './key-files.js';
import type { KeyRole } from './key-role.js';
import type { KeyStore } from './key-store.js';
import type { newKeyPairApart } from './new-key-pair.js';
import { openModuleKeys, UnsupportedKeyError } from './pkcs11/module-keys.js';
import type { Pkcs11Token } from './pkcs11/pkcs11-uri.js';

/**
 * Roles whose curve many modules do not support. No statement, seal or token depends on them, so they may be files if
 * the module cannot create them.
 */
const MAY_BE_FILES: readonly KeyRole[] = ['note', 'chain', 'wallet'];

/**
 * Opens this deployment's store of private halves: files in `KEYS_DIR`, or the module of `KEY_PROVIDER`. With a module,
 * existing file keys go on signing until they are rotated.
 * @param newPair makes the pairs of keys in files
 * @throws {Error} with a message for the operator, if the module cannot be used
 */
export async function openKeyStore(
  config: { readonly keysDir: string; readonly keyProvider: Pkcs11Token | undefined },
  logger: Logger,
  outside?: OutsideCalls,
  newPair?: typeof newKeyPairApart,
): Promise<KeyStore> {
  const files = keyFiles(config.keysDir, newPair);
  if (!config.keyProvider) return files;
  const module = await openModuleKeys(config.keyProvider);
  return moduleBeforeFiles(outside ? recorded(module, outside) : module, files, logger);
}

function recorded(module: KeyStore, outside: OutsideCalls): KeyStore {
  return {
    ...module,
    async open(stored) {
      const key = await module.open(stored);
      return key && { ...key, sign: (message) => outside.record('key_module', key.sign(message)) };
    },
  };
}

function moduleBeforeFiles(module: KeyStore, files: KeyStore, logger: Logger): KeyStore {
  return {
    async generate(role) {
      try {
        return await module.generate(role);
      } catch (error) {
        if (!(error instanceof UnsupportedKeyError) || !MAY_BE_FILES.includes(role)) throw error;
        logger.warn(
          { role, reason: error.message },
          'a key is created in KEYS_DIR, because the module does not support keys of its kind',
        );
        return files.generate(role);
      }
    },
    open: async (key) => (await module.open(key)) ?? files.open(key),
    advice: (keyId) => `${module.advice(keyId)}, or ${files.advice(keyId)}`,
    close: () => module.close(),
  };
}
