import { spoolPlace } from '../../plugins/operator/spool-place.js';
import type { DiskUse } from '../platform/disk/disk-full.js';
import type { DiskState } from '../platform/disk/disk-state.js';
import { createDiskWatch, type DiskWatch } from '../platform/disk/disk-watch.js';
import type { Logger } from '../platform/logger.js';
import { embeddedFolder } from '../platform/postgres/open-database.js';
import type { Config } from './config/config.js';

interface WatchParts {
  readonly logger: Logger;
  /** Asks the queue in Redis. */
  readonly queueIsFull: () => Promise<boolean>;
  readonly looked?: (states: readonly DiskState[]) => void;
  readonly reported?: ((use: DiskUse) => void) | undefined;
  /** Milliseconds of a clock that never jumps: this process's, unless told. */
  readonly now?: (() => number) | undefined;
}

type WatchedConfig = Pick<Config, 'dataDir' | 'databaseUrl' | 'redisUrl' | 'minFreeDiskBytes'>;
type ServiceFolders = Pick<Config, 'objectStore'> & { readonly plugin: Pick<Config['plugin'], 'port'> };

/**
 * Watches the folders that the service stores in, and its Redis. Other servers report a full disk by refusing a write.
 */
export function watchDisks(config: WatchedConfig & ServiceFolders, parts: WatchParts): DiskWatch {
  const { dataDir, databaseUrl, objectStore, plugin } = config;
  const folders = {
    ...(databaseUrl === undefined ? { database: embeddedFolder(dataDir) } : {}),
    objects: 'folder' in objectStore ? objectStore.folder : objectStore.uploadsDir,
    ...(plugin.port === 0 ? {} : { spool: spoolPlace(dataDir) }),
  };
  return watchFolders(config, folders, parts);
}

/** Watches the folders of a plugin that runs without the service, and its Redis. */
export function watchPluginDisks(config: WatchedConfig, parts: WatchParts): DiskWatch {
  const { dataDir, databaseUrl, redisUrl } = config;
  const embedded = databaseUrl === undefined && redisUrl === undefined;
  const folders = {
    ...(embedded ? { database: embeddedFolder(dataDir) } : {}),
    spool: spoolPlace(dataDir),
  };
  return watchFolders(config, folders, parts);
}

function watchFolders(
  { redisUrl, minFreeDiskBytes }: WatchedConfig,
  folders: Parameters<typeof createDiskWatch>[0]['folders'],
  { queueIsFull, ...parts }: WatchParts,
): DiskWatch {
  return createDiskWatch({
    ...parts,
    folders,
    servers: redisUrl === undefined ? {} : { queue: queueIsFull },
    reserveBytes: minFreeDiskBytes,
    now: parts.now ?? (() => performance.now()),
  });
}
