import { concatBytes, equalBytes, toHex, utf8 } from '../../core/bytes.js';
import { decodeCbor } from '../../core/cose/cbor.js';
import type { PublicJwk } from '../../core/cose/public-key.js';
import { decodeSign1 } from '../../core/cose/sign1.js';
import { VerificationError } from '../../core/errors.js';
import type { OpenFork } from '../../core/fork/judge-fork.js';
import { firstName } from '../../core/fork/log-generation.js';
import { appendLeaves } from '../../core/mmr/append-leaves.js';
import { leafCount, sizeOfLeaves } from '../../core/mmr/leaf-count.js';
import { peaks as peakIndices } from '../../core/mmr/peaks.js';
import { readLogClaims } from '../../core/receipt/log-claims.js';
import { rfc9162Leaf } from '../../core/rfc9162/rfc9162-leaf.js';
import { rfc9162Parent } from '../../core/rfc9162/rfc9162-parent.js';
import { rfc9162Root } from '../../core/rfc9162/rfc9162-root.js';
import { type Checkpoint, decodeCheckpoint } from '../../core/tlog/checkpoint.js';
import { type NoteKey, verifyNote } from '../../core/tlog/signed-note.js';
import { TILE_WIDTH } from '../../core/tlog/tile.js';
import { verifyReceiptSignature } from '../../core/verify/verify-receipt.js';
import { nodeVerify } from '../../platform/keys/node-verify.js';
import { counted } from '../counted.js';
import type { NamedWitnesses } from '../witness-options.js';
import { fetchTile, splitHashes, tileWidth } from './checked-tiles.js';
import { checkCosigned, cosignedText, readCosigned, withCosigners } from './cosigned-checkpoint.js';
import { fetchFile, LogUnreachable } from './fetch-file.js';
import { FORK, fetchForks, followFork, forkText } from './follow-fork.js';
import { type KeptFiles, SIZE, StateDamaged } from './kept-files.js';
import { type AreKeysOutdated, checkNotOutdated } from './keys-outdated.js';
import { isHeld, type KnownEntry, rememberKnown } from './known-entry.js';
import { entriesText, keepRead, readOn } from './read-entries.js';
import type { RegisteredSeal } from './registered-seals.js';

/** A statement log to follow (C2SP tlog-tiles). */
interface FollowedStatementLog {
  /** Prefix of its files, without a slash at its end. */
  readonly url: string;
  /** The name that it began with; an open fork adds a generation to it. */
  readonly origin: string;
  /** Its verifier keys, from a source that the caller trusts; one of them must have signed. */
  readonly keys: readonly NoteKey[];
  /** Keys that were revoked: only what was seen before may be signed by them. */
  readonly revokedKeys?: readonly NoteKey[] | undefined;
  readonly outdated?: AreKeysOutdated | undefined;
  readonly known?: KnownEntry | undefined;
  /** Keys of its receipts, which sign fork statements; undefined if they are not known. */
  readonly forkKeys?: readonly PublicJwk[] | undefined;
  /** It is known to publish its entries. */
  readonly publishesEntries: boolean;
  /** Who must have cosigned its checkpoints; undefined if that is not checked. */
  readonly witnesses?: NamedWitnesses | undefined;
  /** Takes the seals of tenancy logs that are among the new entries. Durable when it resolves. */
  readonly registered: (seals: readonly RegisteredSeal[]) => Promise<void>;
  /** Called if the checkpoint is well and all of its entries were read. */
  readonly readAll: () => void;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** File of the newest checkpoint. */
const CHECKPOINT = 'checkpoint';
/** Roots of the complete subtrees that were seen, largest first: enough to continue from. */
const PEAKS = 'peaks';

type KnownRoot = Pick<Checkpoint, 'size' | 'root'>;

interface SeenState extends Checkpoint {
  readonly peaks: readonly Uint8Array[];
}

async function readCheckpoint(
  note: Uint8Array,
  { origin, keys }: Pick<FollowedStatementLog, 'origin' | 'keys'>,
): Promise<Checkpoint> {
  const text = new TextDecoder().decode(note);
  // The first line: the same keys sign each generation of a log, under its name.
  const [name = ''] = text.split('\n', 1);
  const named = firstName(name) === firstName(origin) ? keys.map((key) => ({ ...key, name })) : keys;
  const checkpoint = decodeCheckpoint(await verifyNote(text, named));
  if (firstName(checkpoint.origin) !== firstName(origin))
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
  const hashes = splitHashes(peaks ?? new Uint8Array());
  const whole = hashes.length === peakIndices(sizeOfLeaves(checkpoint.size)).length;
  // After a crash between the two files the peaks may belong to an older state: start from the first leaf again, and compare on the way.
  if (!whole || !equalBytes(rfc9162Root(hashes), checkpoint.root)) return { ...checkpoint, peaks: [] };
  return { ...checkpoint, peaks: hashes };
}

/** Leaf hashes `from` (included) to `to` (excluded), from the tiles of level 0. */
async function* leafHashes(log: FollowedStatementLog, from: bigint, to: bigint): AsyncGenerator<Uint8Array[]> {
  const width = BigInt(TILE_WIDTH);
  for (let index = from / width; index * width < to; index += 1n) {
    const tile = await fetchTile(log.url, 0, index, tileWidth(to, index));
    yield tile.slice(from > index * width ? Number(from - index * width) : 0);
  }
}

interface Grown {
  readonly peaks: readonly Uint8Array[];
  /** The leaf hash at the place of the known entry; undefined if that place was not passed. */
  readonly knownLeaf: Uint8Array | undefined;
}

/** Continues from the last seen state. If the log is read again from its first entry, each known root must appear on the way. */
async function grow(log: FollowedStatementLog, { seen, cut, known }: Base, to: bigint): Promise<Grown> {
  let peaks = seen.peaks;
  let size = seen.peaks.length === 0 ? 0n : seen.size;
  let knownLeaf: Uint8Array | undefined;
  const add = (hashes: readonly Uint8Array[]) => {
    if (known && known.index >= size) knownLeaf ??= hashes[Number(known.index - size)];
    peaks = appendLeaves(rfc9162Parent, sizeOfLeaves(size), peaks, hashes).peaks;
    size += BigInt(hashes.length);
  };
  for await (const hashes of leafHashes(log, size, to)) {
    let rest = hashes;
    for (const older of cut ? [cut, seen] : [seen]) {
      const upTo = Number(older.size - size);
      if (upTo < 0 || upTo > rest.length) continue;
      add(rest.slice(0, upTo));
      checkRoot(peaks, older, older === cut ? 'root that was seen' : undefined);
      rest = rest.slice(upTo);
    }
    add(rest);
  }
  return { peaks, knownLeaf };
}

function checkRoot(peaks: readonly Uint8Array[], { size, root }: KnownRoot, what = 'signed root'): void {
  if (!equalBytes(rfc9162Root(peaks), root))
    throw new VerificationError(
      'consistency_invalid',
      `the tiles do not lead to the ${what} of ${counted(size, 'entry', 'entries')}: a fork`,
    );
}

/** What is compared with the published log: what was seen, or what an open fork kept of it. */
interface Base {
  readonly seen: SeenState;
  readonly known: FollowedStatementLog['known'];
  readonly fork?: OpenFork;
  /** If the fork lost seen leaves: the largest part of the kept ones whose root is known. */
  readonly cut?: KnownRoot;
}

/** Returns the largest prefix of a seen state, of at most `leaves` leaves, whose root follows from the seen peaks. */
function cutTo({ size, peaks }: SeenState, leaves: bigint): KnownRoot {
  const ends = peakIndices(sizeOfLeaves(size)).map((peak) => leafCount(peak + 1n));
  const whole = peaks.length === 0 ? [] : ends.filter((end) => end <= leaves);
  return { size: whole.at(-1) ?? 0n, root: rfc9162Root(peaks.slice(0, whole.length)) };
}

/** Follows a log over an open fork, if its name changed since it was seen. @throws {VerificationError} if it is no open fork */
async function baseOf(log: FollowedStatementLog, seen: SeenState, checkpoint: Checkpoint): Promise<Base> {
  if (seen.size === 0n || checkpoint.origin === seen.origin) return { seen, known: log.known };
  const before = { name: seen.origin, leaves: seen.size };
  const fork = await followFork(before, checkpoint.origin, await fetchForks(`${log.url}/forks`), log.forkKeys);
  const { newest, ended, kept } = fork;
  if (checkpoint.size <= newest.leaves)
    throw new VerificationError(
      'consistency_invalid',
      'the checkpoint does not cover the fork statement: a silent fork',
    );
  const known = { index: newest.leaves, entry: newest.bytes };
  if (kept === seen.size) return { seen, known, fork };
  if (ended.last.leaves === seen.size) await checkLastRoot(log, ended.last.seal, seen.root);
  const shared = { origin: newest.log, size: newest.leaves, root: newest.root, peaks: [] };
  return { seen: shared, known, fork, cut: cutTo(seen, kept) };
}

/** Reads the log again from its first entry if it was over the place of a known one before that was compared. */
async function fromKnown(base: Base, kept: KeptFiles): Promise<Base> {
  const { known, seen } = base;
  if (!known || known.index >= seen.size || (await isHeld(known, kept))) return base;
  return { ...base, seen: { ...seen, peaks: [] } };
}

/** The last seal that a fork statement names must be over the state that was seen, where both are of one size. */
async function checkLastRoot({ forkKeys }: FollowedStatementLog, seal: Uint8Array, root: Uint8Array): Promise<void> {
  if (!forkKeys) return;
  const decoded = decodeCbor(seal);
  const signed = Array.isArray(decoded) ? decoded[1] : undefined;
  if (!(signed instanceof Uint8Array)) throw new VerificationError('malformed', 'the last seal holds no signed root');
  const sign1 = decodeSign1(signed);
  const trust = { logKeys: forkKeys, verifySignature: nodeVerify };
  await verifyReceiptSignature({ sign1, ...readLogClaims(sign1.protectedHeader) }, root, trust, 'the last seal');
}

function checkKnown({ known, fork }: Base, { knownLeaf }: Grown): void {
  if (!known || !knownLeaf || equalBytes(knownLeaf, rfc9162Leaf(known.entry))) return;
  const expected = fork ? 'the fork statement: a silent fork' : 'the one that the service shows elsewhere';
  throw new VerificationError('leaf_mismatch', `entry ${known.index} is not ${expected}`);
}

/**
 * Looks at a statement log once: its checkpoint must be signed and not older than the last; all new leaf hashes are read
 * and, with what was seen, must lead to the signed root; each entry that it reads must be what the tree holds. Then the
 * new state is kept, and the registered seals among the entries are passed on. Then the named witnesses must have cosigned
 * the checkpoint. Resolves with a sentence on what was seen.
 * @throws {VerificationError} at a fork, a rollback, a forged file or cosignature, or if cosignatures stay missing
 * @throws {StateDamaged} if the saved state is damaged
 * @throws {LogUnreachable} if the log cannot be read, or is not cosigned yet
 * @throws {KeysOutdated} if it is signed with a newer key
 */
export async function followStatementLog(log: FollowedStatementLog, kept: KeptFiles): Promise<string> {
  const seen = await seenState(log, kept);
  const note = await fetchFile(`${log.url}/checkpoint`);
  if (!note && seen.size > 0n) throw new VerificationError('consistency_invalid', 'its checkpoint is gone: a rollback');
  if (!note) throw new LogUnreachable(`${log.url}/checkpoint is missing`);
  try {
    const checkpoint = await readCheckpoint(note, log);
    // An empty log says nothing that witnesses could vouch for.
    const cosigned = log.witnesses && checkpoint.size > 0n ? await readCosigned(note, log.witnesses) : undefined;
    const before = await kept.read(CHECKPOINT);
    const looked = await lookFurther(log, kept, seen, { ...checkpoint, note }).catch(async (error: unknown) => {
      throw cosigned && error instanceof VerificationError ? await withCosigners(error, cosigned, before) : error;
    });
    if (cosigned) await checkCosigned(cosigned, looked.text, kept, log.now());
    if (looked.next === checkpoint.size) log.readAll();
    return cosigned ? `${looked.text}; ${cosignedText(cosigned)}` : looked.text;
  } catch (error) {
    await checkNotOutdated(error, log.outdated);
    // Together with the saved state that it contradicts, the signed checkpoint proves what the log did.
    if (error instanceof VerificationError) await kept.alarm(CHECKPOINT, note);
    throw error;
  }
}

/** Compares a checkpoint with what was seen, keeps it, and passes its new entries on. */
async function lookFurther(
  log: FollowedStatementLog,
  kept: KeptFiles,
  seen: SeenState,
  checkpoint: Checkpoint & { readonly note: Uint8Array },
): Promise<{ readonly text: string; readonly next: bigint }> {
  const base = await fromKnown(await baseOf(log, seen, checkpoint), kept);
  checkNotOlder(checkpoint, base.seen);
  const grown = await grow(log, base, checkpoint.size);
  checkRoot(grown.peaks, checkpoint);
  checkKnown(base, grown);
  if (base.known && base.known === log.known) await rememberKnown(base.known, checkpoint.size, kept, log.now());
  const entries = await readOn(log, kept, base.fork?.kept ?? base.seen.size, {
    size: checkpoint.size,
    peaks: grown.peaks,
  });
  await kept.write(PEAKS, concatBytes(...grown.peaks));
  await kept.write(CHECKPOINT, checkpoint.note);
  if (checkpoint.size > 0n) await kept.write(SIZE, utf8(String(checkpoint.size)));
  await log.registered(entries.seals);
  // Last: after a crash the entries are read again.
  await keepRead(entries, kept);
  const text = entriesText(checkpoint.size, entries);
  if (!base.fork) return { text, next: entries.next };
  await kept.write(FORK, base.fork.newest.bytes);
  const over = forkText(base.fork, { name: seen.origin, leaves: seen.size }, base.cut?.size);
  return { text: `${over}; ${text}`, next: entries.next };
}

function checkNotOlder(checkpoint: Checkpoint, seen: Checkpoint): void {
  if (checkpoint.size < seen.size)
    throw new VerificationError(
      'consistency_invalid',
      `${counted(checkpoint.size, 'entry', 'entries')} after ${seen.size}: a rollback`,
    );
  if (checkpoint.size === seen.size && !equalBytes(checkpoint.root, seen.root))
    throw new VerificationError(
      'consistency_invalid',
      `two roots for ${counted(seen.size, 'entry', 'entries')}, ${toHex(seen.root)} and ${toHex(checkpoint.root)}: a fork`,
    );
}
