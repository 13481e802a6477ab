import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { encodeForks } from '../core/fork/read-fork-statement.js';
import { idtimestampMs } from '../core/massif/idtimestamp.js';
import { decodeMassifStart } from '../core/massif/massif-start.js';
import { leafCount } from '../core/mmr/leaf-count.js';
import { currentGeneration, type LogState, tenancyLog } from '../ledger/log.js';
import { endOfGeneration, forkStatements } from '../ledger/log-generations.js';
import { findLog } from '../ledger/log-store.js';
import {
  headMassif,
  type MassifView,
  massifObjectKey,
  massifView,
  type SealView,
  sealView,
} from '../ledger/massif-view.js';
import type { ObjectStore } from '../platform/object-store.js';
import type { Database } from '../platform/postgres/database.js';

/** The current state of a massif or seal file. */
export interface LogFile {
  readonly bytes: Uint8Array;
  readonly etag: string;
  /** Unix milliseconds: of a massif's newest leaf, or when a seal was made. */
  readonly modifiedAtMs: number;
  /** A full massif and its last seal never change again. */
  readonly immutable: boolean;
}

export type LogFileKind = 'massif' | 'seal';

/** Finds the files of a tenancy's MMR log; undefined for one that is not there. */
type FindLogFile = (
  tenantId: string,
  kind: LogFileKind,
  massif: number,
  /** One that ended; default: the newest. */
  generation?: number,
) => Promise<LogFile | undefined>;

const REMEMBERED_FILES = 8;

/**
 * Serves full massifs from the object store, and the growing one from the database as of the newest published seal.
 * Each published state of a file is built once and cached.
 */
function createFindLogFile(deps: { database: Database; objectStore: ObjectStore }): FindLogFile {
  const remembered = new LRUCache<string, Promise<LogFile | undefined>>({ max: REMEMBERED_FILES });
  return async (tenantId, kind, massif, generation) => {
    const log = tenancyLog(tenantId);
    const scope = { read: [tenantId], write: [] };
    const state = await deps.database.inTransaction(scope, (tx) => findLog(tx, log));
    if (!state || state.publishedNumber === 0n) return undefined;
    const ended = generation === undefined ? undefined : endOfGeneration(state, generation);
    if (generation !== undefined && !ended && generation !== currentGeneration(state)) return undefined;
    const key = `${tenantId} ${kind} ${massif} ${state.publishedNumber} ${ended?.sealNumber ?? ''}`;
    const known = remembered.get(key);
    if (known) return known;
    const file = readFile(deps, state, kind, massif, ended?.leaves);
    remembered.set(key, file);
    file.catch(() => remembered.delete(key));
    return file;
  };
}

/** Finds the published fork statements of a tenancy's log; undefined if it was never forked. */
type FindForks = (tenantId: string) => Promise<Uint8Array | undefined>;

/** How the files of a tenancy's log are found. */
export interface LogFileReaders {
  readonly find: FindLogFile;
  readonly findForks: FindForks;
}

/** Serves log files and fork statements. */
export function logFileReaders(deps: { database: Database; objectStore: ObjectStore }): LogFileReaders {
  return { find: createFindLogFile(deps), findForks: createFindForks(deps) };
}

/** Serves fork statements from the object store. */
function createFindForks(deps: { database: Database; objectStore: ObjectStore }): FindForks {
  return async (tenantId) => {
    const state = await deps.database.inTransaction({ read: [tenantId], write: [] }, (tx) =>
      findLog(tx, tenancyLog(tenantId)),
    );
    const statements = state ? await forkStatements(deps.objectStore, state) : [];
    return statements.length === 0 ? undefined : encodeForks(statements);
  };
}

/** The newest seal may be newer in the database than in the object store; a full massif is the same in both. */
async function readFile(
  deps: { database: Database; objectStore: ObjectStore },
  log: LogState,
  kind: LogFileKind,
  massif: number,
  end: bigint | undefined,
): Promise<LogFile | undefined> {
  if (end === undefined && kind === 'massif' && massif < headMassif(log, leafCount(log.publishedSize))) {
    const stored = await deps.objectStore.get(massifObjectKey(log, massif));
    if (stored) return logFile(stored, true, idtimestampMs(decodeMassifStart(stored).lastIdtimestamp));
  }
  const view = await deps.database.inTransaction<MassifView | SealView | undefined>(
    { read: [log.tenantId], write: [] },
    (tx) => (kind === 'massif' ? massifView(tx, log, massif, end) : sealView(tx, log, massif, end)),
  );
  if (!view) return undefined;
  return logFile(
    view.bytes,
    view.full,
    'sealedAtMs' in view ? Number(view.sealedAtMs) : idtimestampMs(view.lastIdtimestamp),
  );
}

function logFile(bytes: Uint8Array, immutable: boolean, modifiedAtMs: number): LogFile {
  const digest = createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
  return { bytes, etag: `"${digest}"`, modifiedAtMs, immutable };
}
