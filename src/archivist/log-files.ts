import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { idtimestampMs } from '../core/massif/idtimestamp.js';
import { decodeMassifStart } from '../core/massif/massif-start.js';
import { leafCount } from '../core/mmr/leaf-count.js';
import type { LogState } from '../ledger/log.js';
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
import { tenancyLog } from './deployment.js';

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
export type FindLogFile = (tenantId: string, kind: LogFileKind, massif: number) => Promise<LogFile | undefined>;

const REMEMBERED_FILES = 8;

/**
 * Serves full massifs from the object store, and the growing one from the database as of the newest published seal.
 * Each published state of a file is built once and cached.
 */
export function createFindLogFile(deps: { database: Database; objectStore: ObjectStore }): FindLogFile {
  const remembered = new LRUCache<string, Promise<LogFile | undefined>>({ max: REMEMBERED_FILES });
  return async (tenantId, kind, massif) => {
    const log = tenancyLog(tenantId);
    const scope = { read: [tenantId], write: [] };
    const state = await deps.database.inTransaction(scope, (tx) => findLog(tx, log));
    if (!state || state.publishedNumber === 0n) return undefined;
    const key = `${tenantId} ${kind} ${massif} ${state.publishedNumber}`;
    const known = remembered.get(key);
    if (known) return known;
    const file = readFile(deps, state, kind, massif);
    remembered.set(key, file);
    file.catch(() => remembered.delete(key));
    return file;
  };
}

/** The newest seal may be newer in the database than in the object store; a full massif is the same in both. */
async function readFile(
  deps: { database: Database; objectStore: ObjectStore },
  log: LogState,
  kind: LogFileKind,
  massif: number,
): Promise<LogFile | undefined> {
  if (kind === 'massif' && massif < headMassif(log, leafCount(log.publishedSize))) {
    const stored = await deps.objectStore.get(massifObjectKey(log, massif));
    if (stored) return logFile(stored, true, idtimestampMs(decodeMassifStart(stored).lastIdtimestamp));
  }
  const view = await deps.database.inTransaction<MassifView | SealView | undefined>(
    { read: [log.tenantId], write: [] },
    (tx) => (kind === 'massif' ? massifView(tx, log, massif) : sealView(tx, log, massif)),
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
