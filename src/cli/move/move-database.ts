import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { UsageError } from '../../core/evidence/usage-error.js';
import { FolderLocked } from '../../platform/postgres/folder-lock.js';
import { embeddedFolder } from '../../platform/postgres/open-database.js';
import { type OwnerConnection, openEmbeddedOwner } from '../../platform/postgres/owner-connection.js';
import { beginRestoring, markMoved, placeState } from '../../platform/postgres/table-copy-store.js';
import { openServerAlone } from '../backup/database-source.js';
import { dumpDatabase } from '../backup/dump-database.js';
import { loadDatabase } from '../restore/load-database.js';

interface MoveRequest {
  readonly dataDir: string;
  /** URL of an empty database. */
  readonly to: string;
  newId(): string;
  progress(text: string): void;
  /**
   * Looks at the copy, and lets services start on it after it has called `finish`; without that call nothing is moved.
   * @param finish marks the embedded database as moved: from then on no service starts on it
   */
  accept(finish: () => Promise<void>): Promise<void>;
}

export interface Moved {
  /** An earlier call had marked the embedded database as moved and then was interrupted. */
  readonly resumed: boolean;
  readonly tables: number;
  readonly rows: number;
  readonly leaves: number;
}

/** Rows on their way, under DATA_DIR: they are as readable there as the database. */
const WAY = 'move';

/**
 * Copies the embedded database into an empty one of a server. It stays locked until this resolves, so that no service
 * can write to it meanwhile; objects and keys stay where they are. After a crash the same call begins again: at any
 * moment a service starts on at most one of the two. A database that was moved is moved nowhere else.
 * @throws {UsageError} before anything is changed
 */
export async function moveDatabase(request: MoveRequest): Promise<Moved> {
  const source = await openSource(embeddedFolder(request.dataDir));
  try {
    const target = await openServerAlone(request.to, '--to');
    try {
      const resumed = await moveToResume(source, target);
      const moved = await copyDatabase(request, source, target, resumed ?? request.newId());
      return { ...moved, resumed: resumed !== undefined };
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

async function copyDatabase(
  { dataDir, progress, accept }: MoveRequest,
  source: OwnerConnection,
  target: OwnerConnection,
  move: string,
): Promise<Omit<Moved, 'resumed'>> {
  const way = join(dataDir, WAY);
  try {
    await rm(way, { recursive: true, force: true });
    await mkdir(way, { mode: 0o700 });
    const dumped = await dumpDatabase(source.client, async () => way, progress);
    if (!dumped) throw new UsageError('there is no deployment in this database: no service has started on it');
    await beginRestoring(target.client, { move });
    await loadDatabase(target.client, way, dumped, { halted: new Map(), progress });
    await accept(() => markMoved(source.client, move));
    const { tables, state } = dumped;
    return {
      tables: tables.length,
      rows: tables.reduce((sum, table) => sum + table.rows, 0),
      leaves: state.logs.reduce((sum, log) => sum + log.leaves, 0),
    };
  } finally {
    await rm(way, { recursive: true, force: true });
  }
}

/** Returns the id of an interrupted move between the two that goes on. @throws {UsageError} if either is not free */
async function moveToResume(source: OwnerConnection, target: OwnerConnection): Promise<string | undefined> {
  const [from, to] = [await placeState(source.client), await placeState(target.client)];
  if (from.state === 'moved') {
    if (to.state === 'restoring' && to.move !== undefined && to.move === from.move) return from.move;
    throw new UsageError(
      'the embedded database was moved before, and its deployment goes on there: set DATABASE_URL to that database. A second copy would sign a second history',
    );
  }
  if (to.state !== 'empty' && to.state !== 'restoring')
    throw new UsageError('the database of --to is in use by a deployment: move into an empty one');
  return undefined;
}

async function openSource(folder: string): Promise<OwnerConnection> {
  return openEmbeddedOwner(folder, false).catch((error: Error) => {
    throw new UsageError(
      error instanceof FolderLocked ? 'a service runs on the embedded database: stop it first' : error.message,
    );
  });
}
