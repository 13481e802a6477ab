import { concatBytes, equalBytes, toHex } from '../../core/bytes.js';
import { VerificationError } from '../../core/errors.js';
import { appendLeaves } from '../../core/mmr/append-leaves.js';
import { sizeOfLeaves } from '../../core/mmr/leaf-count.js';
import { peaks as peakIndices } from '../../core/mmr/peaks.js';
import { rfc9162Leaf } from '../../core/rfc9162/rfc9162-leaf.js';
import { rfc9162Parent } from '../../core/rfc9162/rfc9162-parent.js';
import { rfc9162Root } from '../../core/rfc9162/rfc9162-root.js';
import { type Checkpoint, decodeCheckpoint } from '../../core/tlog/checkpoint.js';
import { type NoteKey, verifyNote } from '../../core/tlog/signed-note.js';
import { TILE_WIDTH, tilePath } from '../../core/tlog/tile.js';
import { fetchFile, LogUnreachable, requireFile } from './fetch-file.js';
import { type KeptFiles, StateDamaged } from './kept-files.js';

/** A statement log to follow (C2SP tlog-tiles). */
interface FollowedStatementLog {
  /** Prefix of its files, without a slash at its end. */
  readonly url: string;
  /** Its name in checkpoints. */
  readonly origin: string;
  /** Its verifier keys, from a source that the caller trusts; one of them must have signed. */
  readonly keys: readonly NoteKey[];
  /** Keys that were revoked: only what was seen before may be signed by them. */
  readonly revokedKeys?: readonly NoteKey[] | undefined;
  /** An entry that is known from elsewhere, and where it must be once the log has grown over it. */
  readonly known?: { readonly index: bigint; readonly entry: Uint8Array } | undefined;
  /** Fractions of 1, for the sample of entries. */
  readonly random: () => number;
}

/** File of the newest checkpoint; it changes with each new state. */
export const CHECKPOINT = 'checkpoint';
/** Roots of the complete subtrees that were seen, largest first: enough to continue from. */
const PEAKS = 'peaks';
const HASH_BYTES = 32;
const SAMPLE = 8;

interface SeenState extends Checkpoint {
  readonly peaks: readonly Uint8Array[];
}

async function readCheckpoint(
  note: Uint8Array,
  { origin, keys }: Pick<FollowedStatementLog, 'origin' | 'keys'>,
): Promise<Checkpoint> {
  const checkpoint = decodeCheckpoint(await verifyNote(new TextDecoder().decode(note), keys));
  if (checkpoint.origin !== origin)
    throw new VerificationError('log_mismatch', `the checkpoint is of "${checkpoint.origin}", not of "${origin}"`);
  return checkpoint;
}

/** Reads the last seen checkpoint and checks it again, because disks fail. @throws {StateDamaged} */
async function seenCheckpoint(note: Uint8Array, log: FollowedStatementLog): Promise<Checkpoint> {
  try {
    return await readCheckpoint(note, { ...log, keys: [...log.keys, ...(log.revokedKeys ?? [])] });
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    throw new StateDamaged(`the saved state does not verify with these keys: ${error.message} [${error.code}]`);
  }
}

async function seenState(log: FollowedStatementLog, kept: KeptFiles): Promise<SeenState> {
  const [note, peaks] = [await kept.read(CHECKPOINT), await kept.read(PEAKS)];
  if (!note) return { origin: log.origin, size: 0n, root: rfc9162Root([]), peaks: [] };
  const checkpoint = await seenCheckpoint(note, log);
  const hashes = split(peaks ?? new Uint8Array());
  const whole = hashes.length === peakIndices(sizeOfLeaves(checkpoint.size)).length;
  // After a crash between the two files the peaks may belong to an older state: start from the first leaf again, and compare on the way.
  if (!whole || !equalBytes(rfc9162Root(hashes), checkpoint.root)) return { ...checkpoint, peaks: [] };
  return { ...checkpoint, peaks: hashes };
}

function split(bytes: Uint8Array): Uint8Array[] {
  return Array.from({ length: Math.floor(bytes.length / HASH_BYTES) }, (_, at) =>
    bytes.slice(HASH_BYTES * at, HASH_BYTES * (at + 1)),
  );
}

/** Leaf hashes `from` (included) to `to` (excluded), from the tiles of level 0. */
async function* leafHashes(log: FollowedStatementLog, from: bigint, to: bigint): AsyncGenerator<Uint8Array[]> {
  const width = BigInt(TILE_WIDTH);
  for (let index = from / width; index * width < to; index += 1n) {
    const held = to - index * width < width ? Number(to - index * width) : TILE_WIDTH;
    const tile = await requireFile(`${log.url}/tile/${tilePath({ level: 0, index, width: held })}`);
    if (tile.length !== held * HASH_BYTES)
      throw new VerificationError('malformed', `tile ${index} is ${tile.length} bytes long, not ${held} hashes`);
    yield split(tile).slice(from > index * width ? Number(from - index * width) : 0);
  }
}

interface Grown {
  readonly peaks: readonly Uint8Array[];
  /** The leaf hashes of the chosen entries. */
  readonly drawn: ReadonlyMap<bigint, Uint8Array>;
}

/** Chooses the new entries to read. Chosen in advance, because a log may be larger than memory. */
function drawPlaces(log: FollowedStatementLog, from: bigint, to: bigint): Set<bigint> {
  const count = Math.min(SAMPLE, Number(to - from));
  return new Set(Array.from({ length: count }, () => from + BigInt(Math.floor(log.random() * Number(to - from)))));
}

/** Continues from the last seen state. If its peaks were lost, the older root must appear on the way. */
async function grow(log: FollowedStatementLog, seen: SeenState, to: bigint): Promise<Grown> {
  let peaks = seen.peaks;
  let size = seen.peaks.length === 0 ? 0n : seen.size;
  const drawn = new Map<bigint, Uint8Array>();
  const places = drawPlaces(log, size, to);
  if (log.known) places.add(log.known.index);
  const add = (hashes: readonly Uint8Array[]) => {
    for (const place of places)
      if (place >= size && place < size + BigInt(hashes.length)) drawn.set(place, hashes[Number(place - size)]!);
    peaks = appendLeaves(rfc9162Parent, sizeOfLeaves(size), peaks, hashes).peaks;
    size += BigInt(hashes.length);
  };
  for await (const hashes of leafHashes(log, size, to)) {
    const upToSeen = Number(seen.size - size);
    if (upToSeen > 0 && upToSeen <= hashes.length) {
      add(hashes.slice(0, upToSeen));
      checkRoot(peaks, seen);
      add(hashes.slice(upToSeen));
    } else add(hashes);
  }
  return { peaks, drawn };
}

function checkRoot(peaks: readonly Uint8Array[], { size, root }: Checkpoint): void {
  if (!equalBytes(rfc9162Root(peaks), root))
    throw new VerificationError(
      'consistency_invalid',
      `the tiles do not lead to the signed root of ${size} entries: a fork`,
    );
}

function checkKnown({ known }: FollowedStatementLog, { drawn }: Grown): void {
  const hash = known && drawn.get(known.index);
  if (hash && !equalBytes(hash, rfc9162Leaf(known.entry)))
    throw new VerificationError(
      'leaf_mismatch',
      `entry ${known.index} is not the one that the service shows elsewhere`,
    );
}

/** Checks that published entries match the tree. The private log publishes no entries. */
async function checkSample(log: FollowedStatementLog, { drawn }: Grown, size: bigint): Promise<number> {
  let checked = 0;
  for (const [leaf, hash] of drawn) {
    const index = leaf / BigInt(TILE_WIDTH);
    const left = size - index * BigInt(TILE_WIDTH);
    const width = left < BigInt(TILE_WIDTH) ? Number(left) : TILE_WIDTH;
    const bundle = await fetchFile(`${log.url}/tile/${tilePath({ level: 'entries', index, width })}`);
    if (!bundle) return checked;
    const entry = entryAt(bundle, Number(leaf - index * BigInt(TILE_WIDTH)));
    if (!entry || !equalBytes(rfc9162Leaf(entry), hash))
      throw new VerificationError('leaf_mismatch', `entry ${leaf} does not match its leaf in the tree`);
    checked += 1;
  }
  return checked;
}

function entryAt(bundle: Uint8Array, place: number): Uint8Array | undefined {
  let at = 0;
  for (let skipped = 0; at + 2 <= bundle.length; skipped += 1) {
    const end = at + 2 + ((bundle[at]! << 8) | bundle[at + 1]!);
    if (skipped === place) return end <= bundle.length ? bundle.subarray(at + 2, end) : undefined;
    at = end;
  }
  return undefined;
}

/**
 * Looks at a statement log once: its checkpoint must be signed and not older than the last; all new leaf hashes are read
 * and, with what was seen, must lead to the signed root; a sample of entries must be what the tree holds. Then the new
 * state is kept. Resolves with a sentence on what was seen.
 * @throws {VerificationError} at a fork, a rollback or a forged file
 * @throws {StateDamaged} if the saved state is damaged
 * @throws {LogUnreachable} if the log cannot be read
 */
export async function followStatementLog(log: FollowedStatementLog, kept: KeptFiles): Promise<string> {
  const seen = await seenState(log, kept);
  const note = await fetchFile(`${log.url}/checkpoint`);
  if (!note && seen.size > 0n) throw new VerificationError('consistency_invalid', 'its checkpoint is gone: a rollback');
  if (!note) throw new LogUnreachable(`${log.url}/checkpoint is missing`);
  try {
    const checkpoint = await readCheckpoint(note, log);
    checkNotOlder(checkpoint, seen);
    const grown = await grow(log, seen, checkpoint.size);
    checkRoot(grown.peaks, checkpoint);
    checkKnown(log, grown);
    const sampled = await checkSample(log, grown, checkpoint.size);
    await kept.write(PEAKS, concatBytes(...grown.peaks));
    await kept.write(CHECKPOINT, note);
    return `${checkpoint.size} entries, ${sampled} of them read`;
  } catch (error) {
    // Together with the saved state that it contradicts, the signed checkpoint proves what the log did.
    if (error instanceof VerificationError) await kept.alarm(CHECKPOINT, note);
    throw error;
  }
}

function checkNotOlder(checkpoint: Checkpoint, seen: Checkpoint): void {
  if (checkpoint.size < seen.size)
    throw new VerificationError('consistency_invalid', `${checkpoint.size} entries after ${seen.size}: a rollback`);
  if (checkpoint.size === seen.size && !equalBytes(checkpoint.root, seen.root))
    throw new VerificationError(
      'consistency_invalid',
      `two roots for ${seen.size} entries, ${toHex(seen.root)} and ${toHex(checkpoint.root)}: a fork`,
    );
}
