import { z } from 'zod';
import { VerificationError } from '../core/errors.js';
import { encodeForks } from '../core/fork/read-fork-statement.js';
import { encodeVkey, type NoteKey } from '../core/tlog/signed-note.js';
import { parseTilePath } from '../core/tlog/tile.js';
import { checkpointNote, noteKey, ownNoteKeys, publishedState, signedAlong } from '../ledger/checkpoint-note.js';
import type { LogRef } from '../ledger/log.js';
import { forkStatements, parseLogInPath } from '../ledger/log-generations.js';
import { findLog } from '../ledger/log-store.js';
import { entryBundle, tileBytes } from '../ledger/tile-view.js';
import { ApiError } from '../platform/errors.js';
import { type Reply, type Route, route } from '../platform/http/route.js';
import type { Keyring } from '../platform/keys/keyring.js';
import type { ObjectStore } from '../platform/object-store.js';
import type { Database, Tx } from '../platform/postgres/database.js';
import { ANYWHERE, FOREVER } from './published-headers.js';

/** A statement log that others may follow. */
export interface FollowedLog extends LogRef {
  readonly kind: 'public' | 'private' | 'keys';
  /** Witnesses that are asked to cosign its checkpoints. */
  readonly witnesses: readonly NoteKey[];
}

export interface TlogDeps {
  readonly database: Database;
  readonly objectStore: ObjectStore;
  readonly keyring: Pick<Keyring, 'signer' | 'noteSigners' | 'publicKeys'>;
  readonly publicUrl: string;
  readonly logs: readonly FollowedLog[];
  /**
   * The newest checkpoint that witnesses have cosigned; undefined without witnesses, or before the first cosignature.
   */
  readonly cosignedCheckpoint: (log: LogRef) => Promise<string | undefined>;
}

/** Where the logs are listed; each is under its uuid. */
export const TLOG_LIST = '/verifiabledata/tlog';
const ALWAYS_NEW = { ...ANYWHERE, 'cache-control': 'public, no-cache, no-transform' };
const LOG = z.object({ log: z.string() });

const common = { method: 'GET', access: 'public', extension: true, success: 200 } as const;

/**
 * The statement logs as C2SP tlog-tiles, for existing clients, monitors and witnesses: a checkpoint, tiles of hashes
 * and, for the public log and the keys log, the entries. `<base>/<log uuid>` is a log's prefix.
 */
export function tlogRoutes(deps: TlogDeps): Route[] {
  return [logListRoute(deps), checkpointRoute(deps), vkeyRoute(deps), tileRoute(deps), forksRoute(deps)];
}

/** A log in the path of a request: the newest generation, or one that ended. */
type AskedLog = FollowedLog & { readonly generation?: number | undefined };

function followed(deps: TlogDeps, inPath: string): AskedLog {
  const asked = parseLogInPath(inPath);
  const log = deps.logs.find((each) => each.logId === asked?.uuid);
  if (asked && log) return { ...log, generation: asked.generation };
  throw new ApiError('not_found', 'log: there is no such statement log.', ANYWHERE);
}

function reading<Result>(deps: TlogDeps, log: LogRef, work: (tx: Tx) => Promise<Result>): Promise<Result> {
  return deps.database.inTransaction({ read: [log.tenantId], write: [] }, work);
}

function logListRoute(deps: TlogDeps): Route {
  const described = z.object({
    id: z.string(),
    kind: z.enum(['public', 'private', 'keys']),
    origin: z.string(),
    vkey: z.string(),
    url: z.string(),
    witnesses: z.array(z.string()),
  });
  return route({
    ...common,
    path: TLOG_LIST,
    operationId: 'Tlog_ListLogs',
    summary: 'List the statement logs with their origins, verifier keys and witnesses',
    codes: [],
    response: z.object({ logs: z.array(described) }),
    handle: async () => ({
      body: { logs: await Promise.all(deps.logs.map((log) => describeLog(deps, log))) },
      headers: ALWAYS_NEW,
    }),
  });
}

async function describeLog(deps: TlogDeps, log: AskedLog) {
  const { origin } = await stateOf(deps, log);
  const vkey = encodeVkey(noteKey(origin, deps.keyring.signer('note')));
  const url = `${deps.publicUrl}${TLOG_LIST}/${log.logId}`;
  return { id: log.logId, kind: log.kind, origin, vkey, url, witnesses: log.witnesses.map(encodeVkey) };
}

async function stateOf(deps: TlogDeps, log: AskedLog) {
  const state = await reading(deps, log, (tx) => publishedState(tx, log, log.generation));
  if (!state) throw new ApiError('not_found', 'log: there is no such statement log.');
  return state;
}

function checkpointRoute(deps: TlogDeps): Route {
  return route({
    ...common,
    path: `${TLOG_LIST}/:log/checkpoint`,
    operationId: 'Tlog_GetCheckpoint',
    summary: 'Get the newest signed checkpoint of a statement log',
    codes: [404],
    params: LOG,
    rawResponse: 'text/plain; charset=utf-8',
    handle: async ({ params }) => {
      const log = followed(deps, params.log);
      const state = await stateOf(deps, log);
      const signers = deps.keyring.noteSigners();
      const kept = log.generation === undefined ? await deps.cosignedCheckpoint(log) : undefined;
      if (kept === undefined) return text(await checkpointNote(state, signers));
      const own = ownNoteKeys(deps.keyring, state.origin);
      return text(
        // A cosigned checkpoint proves nothing once its note key is revoked, so the log serves a fresh checkpoint
        // instead.
        await signedAlong(kept, state, signers, own).catch((error: unknown) => {
          if (error instanceof VerificationError) return checkpointNote(state, signers);
          throw error;
        }),
      );
    },
  });
}

function vkeyRoute(deps: TlogDeps): Route {
  return route({
    ...common,
    path: `${TLOG_LIST}/:log/vkey`,
    operationId: 'Tlog_GetVerifierKey',
    summary: 'Get the verifier key of a statement log’s checkpoints',
    codes: [404],
    params: LOG,
    rawResponse: 'text/plain; charset=utf-8',
    handle: async ({ params }) => {
      const { vkey } = await describeLog(deps, followed(deps, params.log));
      return text(`${vkey}\n`);
    },
  });
}

function text(content: string): Reply {
  return { bytes: Buffer.from(content), contentType: 'text/plain; charset=utf-8', headers: ALWAYS_NEW };
}

function tileRoute(deps: TlogDeps): Route {
  return route({
    ...common,
    path: `${TLOG_LIST}/:log/tile/*tile`,
    operationId: 'Tlog_GetTile',
    summary: 'Get a tile of hashes, or (under entries/) an entry bundle of the public log or keys log',
    codes: [404],
    params: z.object({ log: z.string(), tile: z.string() }),
    // A bundle of 256 entries of 64 KiB has 16 MiB.
    large: true,
    rawResponse: 'application/octet-stream',
    handle: async ({ params }) => {
      const log = followed(deps, params.log);
      const bytes = await readTile(deps, log, params.tile);
      if (!bytes) throw new ApiError('not_found', 'tile: the log has no such tile.', ANYWHERE);
      return { bytes, contentType: 'application/octet-stream', headers: FOREVER };
    },
  });
}

function forksRoute(deps: TlogDeps): Route {
  return route({
    ...common,
    path: `${TLOG_LIST}/:log/forks`,
    operationId: 'Tlog_GetForks',
    summary: 'Get the statements that begin the openly forked generations of a statement log',
    codes: [404],
    params: LOG,
    rawResponse: 'application/cbor',
    handle: async ({ params }) => {
      const log = followed(deps, params.log);
      const state = await reading(deps, log, (tx) => findLog(tx, log));
      const statements = state ? await forkStatements(deps.objectStore, state) : [];
      if (statements.length === 0) throw new ApiError('not_found', 'log: it was never forked.', ANYWHERE);
      return { bytes: encodeForks(statements), contentType: 'application/cbor', headers: ALWAYS_NEW };
    },
  });
}

async function readTile(deps: TlogDeps, log: AskedLog, path: string): Promise<Uint8Array | undefined> {
  const name = parseTilePath(path);
  if (!name) return undefined;
  const { level } = name;
  // Entries of the private log are served only to those who may read their events, not here.
  if (level === 'entries' && log.kind === 'private') return undefined;
  return reading(deps, log, (tx) =>
    level === 'entries' ? entryBundle(tx, log, name, log.generation) : tileBytes(tx, log, level, name, log.generation),
  );
}
