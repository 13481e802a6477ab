import { fromBase64, utf8 } from '../core/bytes.js';
import type { Signer } from '../core/cose/signature.js';
import { sha256 } from '../core/sha256.js';
import { encodeCheckpoint } from '../core/tlog/checkpoint.js';
import {
  decodeNote,
  encodeNote,
  type NoteKey,
  NoteKeyType,
  signatureLine,
  signaturesBy,
  verifyNote,
} from '../core/tlog/signed-note.js';
import type { Keyring } from '../platform/keys/keyring.js';
import type { Tx } from '../platform/postgres/database.js';
import { type LogRef, type LogState, nameAt } from './log.js';
import { endOfGeneration } from './log-generations.js';
import { LogInconsistent } from './log-inconsistent.js';
import { findLog } from './log-store.js';
import { findSeal } from './seal-store.js';

/**
 * A statement log's newest published state, as its checkpoint describes it. The origin is the name in all of its
 * receipts.
 */
export interface PublishedState {
  readonly origin: string;
  readonly size: bigint;
  readonly root: Uint8Array;
}

const EMPTY_ROOT = sha256(new Uint8Array());

/**
 * Returns the newest published state of a statement log; undefined if there is no such log, or no such generation of
 * it.
 * @param generation one that ended; default: the newest
 */
export async function publishedState(tx: Tx, ref: LogRef, generation?: number): Promise<PublishedState | undefined> {
  const log = await findLog(tx, ref);
  if (log?.structure !== 'RFC9162_SHA256') return undefined;
  const last = generation === undefined ? log.publishedNumber : endOfGeneration(log, generation)?.sealNumber;
  if (last === undefined) return undefined;
  return stateAt(tx, log, last);
}

/**
 * The state under the first seal of a log's newest generation, which holds the fork statement; undefined if the log was never
 * forked, or if that seal is not published yet.
 */
export async function firstForkedState(tx: Tx, ref: LogRef): Promise<PublishedState | undefined> {
  const log = await findLog(tx, ref);
  const first = (log?.forks.at(-1)?.sealNumber ?? -1n) + 1n;
  return log && first > 0n && first <= log.publishedNumber ? stateAt(tx, log, first) : undefined;
}

async function stateAt(tx: Tx, log: LogState, sealNumber: bigint): Promise<PublishedState> {
  if (sealNumber === 0n) return { origin: nameAt(log, 1n), size: 0n, root: EMPTY_ROOT };
  const seal = await findSeal(tx, log, sealNumber);
  if (!seal) throw new LogInconsistent(`seal ${sealNumber} is not stored`);
  return { origin: nameAt(log, seal.sealNumber), size: seal.leaves, root: seal.root };
}

/** The note key under a log's name: C2SP requires the key's name to be the log's. */
export function noteKey(origin: string, { publicKey }: Pick<Signer, 'publicKey'>): NoteKey {
  if (publicKey.kty !== 'OKP') throw new TypeError('notes are signed with Ed25519');
  return { name: origin, type: NoteKeyType.ed25519, publicKey: fromBase64(publicKey.x) };
}

/** A log's note keys that are not revoked, under its name. */
export function ownNoteKeys(keyring: Pick<Keyring, 'publicKeys'>, origin: string): NoteKey[] {
  return keyring.publicKeys(['note']).map(({ jwk }) => noteKey(origin, { publicKey: jwk }));
}

function ownLines(origin: string, text: string, signers: readonly Signer[]): Promise<string[]> {
  return Promise.all(
    signers.map(async (signer) => signatureLine(noteKey(origin, signer), await signer.sign(utf8(text)))),
  );
}

/**
 * The checkpoint of a state, with one signature line per signer. Ed25519 is deterministic, so the lines need not be
 * stored.
 */
export async function checkpointNote(state: PublishedState, signers: readonly Signer[]): Promise<string> {
  const text = encodeCheckpoint(state);
  return encodeNote(text, await ownLines(state.origin, text, signers));
}

/**
 * A stored checkpoint, with added lines of signers that have none in it: keys may rotate while witnesses are inactive.
 * The stored text must be that of the log's newest state, or already be signed by one of the log's own keys.
 * @throws {VerificationError} if it is neither
 */
export async function signedAlong(
  note: string,
  state: PublishedState,
  signers: readonly Signer[],
  ownKeys: readonly NoteKey[],
): Promise<string> {
  const read = decodeNote(note);
  const missing = signers.filter((signer) => signaturesBy(read, noteKey(state.origin, signer)).length === 0);
  if (missing.length === 0) return note;
  const { text } = read;
  if (text !== encodeCheckpoint(state)) await verifyNote(note, ownKeys);
  return encodeNote(text, [...(await ownLines(state.origin, text, missing)), note.slice(text.length + 1)]);
}
