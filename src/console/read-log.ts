import { equalBytes } from '../core/bytes.js';
import { VerificationError } from '../core/errors.js';
import { readObject } from '../core/evidence/published-asset.js';
import { rfc9162InclusionNodes, rfc9162InclusionPath } from '../core/rfc9162/rfc9162-inclusion-path.js';
import { rfc9162Leaf } from '../core/rfc9162/rfc9162-leaf.js';
import { rfc9162Root } from '../core/rfc9162/rfc9162-root.js';
import { rfc9162RootFromInclusion } from '../core/rfc9162/rfc9162-root-from-inclusion.js';
import { subtreeNodes } from '../core/rfc9162/rfc9162-subtree.js';
import { type Checkpoint, decodeCheckpoint } from '../core/tlog/checkpoint.js';
import { decodeNote, decodeVkey, type SignedNote, verifyNote } from '../core/tlog/signed-note.js';
import { TILE_WIDTH, tilePath } from '../core/tlog/tile.js';
import { nodesInTiles, tilesOfNodes } from '../core/tlog/tile-nodes.js';
import { LOG_TEXTS } from './log-texts.js';
import { pageVerify } from './page-verify.js';
import { readService } from './read-service.js';

/** A statement log, as the service lists it. */
export interface ListedLog {
  readonly id: string;
  readonly kind: string;
  readonly origin: string;
  readonly vkey: string;
  /** Verifier keys of the witnesses that the service asks to cosign it; an older service names none. */
  readonly witnesses?: readonly string[];
}

/** A log's newest checkpoint. */
export interface LogState {
  readonly checkpoint: Checkpoint;
  readonly note: string;
  readonly signed: SignedNote;
  /** Why the log's own signature could not be confirmed; undefined when it was. */
  readonly fault?: string | undefined;
}

/** An entry of a log, and whether the checkpoint's root covers it. */
export interface LogEntry {
  readonly index: bigint;
  readonly bytes: Uint8Array;
  readonly isProven: boolean;
}

/** The page is at the address of the list. */
const LOGS = location.origin + location.pathname.replace(/\/+$/, '');

/** Reads the list of logs. @throws {UsageError} when the service does not answer */
export async function readLogs(): Promise<readonly ListedLog[]> {
  const { logs } = await readObject(LOGS, readService);
  return logs as readonly ListedLog[];
}

/** Reads a log's checkpoint, and checks its origin and, with the key that the service names, its signature. @throws {UsageError} */
export async function readState({ id, origin, vkey }: ListedLog): Promise<LogState> {
  const note = new TextDecoder().decode(await readService(`${LOGS}/${id}/checkpoint`));
  const signed = decodeNote(note);
  const checkpoint = decodeCheckpoint(signed.text);
  const fault = await verifyNote(note, [decodeVkey(vkey)], pageVerify()).then(
    () => (checkpoint.origin === origin ? undefined : LOG_TEXTS.otherLog),
    (error: unknown) => {
      if (error instanceof VerificationError) return error.message;
      throw error;
    },
  );
  return { checkpoint, note, signed, fault };
}

async function tilesFor({ id }: ListedLog, nodes: readonly bigint[], size: bigint) {
  const paths = tilesOfNodes(nodes, size);
  const read = paths.map(async (path) => [path, await readService(`${LOGS}/${id}/tile/${path}`)] as const);
  return nodesInTiles(new Map(await Promise.all(read)), size);
}

/** Whether a checkpoint continues an older state of its log: the tiles of today make the root of then, and that of now. */
export async function continues(
  log: ListedLog,
  { size, root }: Checkpoint,
  older: { readonly size: bigint; readonly root: Uint8Array },
): Promise<boolean> {
  if (older.size > size) return false;
  const [now, then] = [subtreeNodes({ start: 0n, leaves: size }), subtreeNodes({ start: 0n, leaves: older.size })];
  const nodeAt = await tilesFor(log, [...now, ...then], size);
  return equalBytes(rfc9162Root(then.map(nodeAt)), older.root) && equalBytes(rfc9162Root(now.map(nodeAt)), root);
}

/** Reads an entry, and proves it under the checkpoint's root. @throws {UsageError} when the service does not answer */
export async function readEntry(log: ListedLog, { size, root }: Checkpoint, index: bigint): Promise<LogEntry> {
  const width = BigInt(TILE_WIDTH);
  const bundle = index / width;
  const held = size - bundle * width;
  const path = tilePath({ level: 'entries', index: bundle, width: held < width ? Number(held) : TILE_WIDTH });
  const bytes = entryIn(await readService(`${LOGS}/${log.id}/tile/${path}`), Number(index % width));
  const nodeAt = await tilesFor(log, rfc9162InclusionNodes(index, size), size);
  const reached = rfc9162RootFromInclusion(rfc9162Leaf(bytes), index, size, rfc9162InclusionPath(index, size, nodeAt));
  return { index, bytes, isProven: equalBytes(reached, root) };
}

/** One of the entries of a bundle, each after its length in two bytes. @throws {VerificationError} `malformed` */
function entryIn(bundle: Uint8Array, place: number): Uint8Array {
  let at = 0;
  for (let number = 0; ; number += 1) {
    const length = at + 2 <= bundle.length ? (bundle[at]! << 8) | bundle[at + 1]! : Number.POSITIVE_INFINITY;
    if (at + 2 + length > bundle.length) throw new VerificationError('malformed', 'the entry bundle is too short');
    if (number === place) return bundle.slice(at + 2, at + 2 + length);
    at += 2 + length;
  }
}
