import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { UsageError } from '../../core/evidence/usage-error.js';
import { explained } from '../../platform/explain-failure.js';
import { FolderLocked } from '../../platform/postgres/folder-lock.js';
import { embeddedFolder } from '../../platform/postgres/open-database.js';
import { type OwnerConnection, openEmbeddedOwner, openServerOwner } from '../../platform/postgres/owner-connection.js';
import { beginRestoring, markMoved, placeState } from '../../platform/postgres/table-copy-store.js';
import { dumpDatabase } from '../backup/dump-database.js';
import { loadDatabase } from '../restore/load-database.js';

interface MoveRequest {
  readonly dataDir: string;
  /** URL of an empty database. */
  readonly to: string;
  progress(text: string): void;
  /**
   * Looks at the copy, and lets services start on it after it has called `finish`; without that call nothing is moved.
   * @param finish marks the embedded database as moved: from then on no service starts on it
   */
  accept(finish: () => Promise<void>): Promise<void>;
}

export interface Moved {
  readonly tables: number;
  readonly rows: number;
  readonly leaves: number;
}

/** Rows on their way, under DATA_DIR: they are as readable there as the database. */
const WAY = 'move';

/**
 * Copies the embedded database into an empty one of a server. It stays locked until this resolves, so that no service
 * can write to it meanwhile; objects and keys stay where they are. After a crash the same call begins again: at any
 * moment a service starts on at most one of the two.
 * @throws {UsageError} before anything is changed
 */
export async function moveDatabase(request: MoveRequest): Promise<Moved> {
  const { dataDir, to, progress } = request;
  const source = await openSource(embeddedFolder(dataDir));
  const way = join(dataDir, WAY);
  try {
    await rm(way, { recursive: true, force: true });
    await mkdir(way, { mode: 0o700 });
    const dumped = await dumpDatabase(source.client, way, progress);
    if (!dumped) throw new UsageError('there is no deployment in this database: no service has started on it');
    const target = await openTarget(to);
    try {
      await beginRestoring(target.client);
      await loadDatabase(target.client, way, dumped, { halted: new Map(), progress });
    } finally {
      await target.close();
    }
    await request.accept(() => markMoved(source.client));
    const { tables, state } = dumped;
    return {
      tables: tables.length,
      rows: tables.reduce((sum, table) => sum + table.rows, 0),
      leaves: state.logs.reduce((sum, log) => sum + log.leaves, 0),
    };
  } finally {
    await rm(way, { recursive: true, force: true });
    await source.close();
  }
}

async function openSource(folder: string): Promise<OwnerConnection> {
  return openEmbeddedOwner(folder, false).catch((error: Error) => {
    throw new UsageError(
      error instanceof FolderLocked ? 'a service runs on the embedded database: stop it first' : error.message,
    );
  });
}

async function openTarget(url: string): Promise<OwnerConnection> {
  const target = await explained('the database of --to cannot be opened', openServerOwner(url)).catch(
    (error: Error) => {
      throw new UsageError(error.message);
    },
  );
  const state = await placeState(target.client);
  if (state === 'empty' || state === 'restoring') return target;
  await target.close();
  throw new UsageError('the database of --to is in use by a deployment: move into an empty one');
}
