import type { Config } from './config/config.js';

/** What the base of a process uses of the configuration: where its data, keys and queues are, and who it is. */
export type BaseSettings = Pick<
  Config,
  | 'bootstrap'
  | 'dataDir'
  | 'databaseUrl'
  | 'failpoint'
  | 'keyProvider'
  | 'keysDir'
  | 'logFormat'
  | 'logLevel'
  | 'massifHeight'
  | 'minFreeDiskBytes'
  | 'objectStoreDir'
  | 'publicUrl'
  | 'redisUrl'
> & { readonly plugin: Pick<Config['plugin'], 'port'> };

/** What the ledger uses of it, apart from its base. */
export type LedgerSettings = Pick<Config, 'hashEnvelopeLabels' | 'publicUrl'>;
