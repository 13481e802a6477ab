import type { Config } from './config/config.js';

/** The settings that the base of a process uses: the places of its data, keys and queues, and its identity. */
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
  | 'objectStore'
  | 'publicUrl'
  | 'redisUrl'
> & { readonly plugin: Pick<Config['plugin'], 'port'> };

/** The settings that the ledger uses beside those of the base. */
export type LedgerSettings = Pick<Config, 'hashEnvelopeLabels' | 'publicUrl'>;
