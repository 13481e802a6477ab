import { fromBase64, utf8 } from '../core/bytes.js';
import type { Signer } from '../core/cose/signature.js';
import { sha256 } from '../core/sha256.js';
import { encodeCheckpoint } from '../core/tlog/checkpoint.js';
import { encodeNote, type NoteKey, NoteKeyType, signatureLine } from '../core/tlog/signed-note.js';
import type { Tx } from '../platform/postgres/database.js';
import type { LogRef } from './log.js';
import { LogInconsistent } from './log-inconsistent.js';
import { findLog } from './log-store.js';
import { findSeal } from './seal-store.js';

/** A statement log's newest published state, as its checkpoint names it. The origin is the name in all of its receipts. */
export interface PublishedState {
  readonly origin: string;
  readonly size: bigint;
  readonly root: Uint8Array;
}

const EMPTY_ROOT = sha256(new Uint8Array());

/** Undefined when there is no such statement log. */
export async function publishedState(tx: Tx, ref: LogRef): Promise<PublishedState | undefined> {
  const log = await findLog(tx, ref);
  if (log?.structure !== 'RFC9162_SHA256') return undefined;
  if (log.publishedNumber === 0n) return { origin: log.name, size: 0n, root: EMPTY_ROOT };
  const seal = await findSeal(tx, ref, log.publishedNumber);
  if (!seal) throw new LogInconsistent(`seal ${log.publishedNumber} is not stored`);
  return { origin: log.name, size: seal.leaves, root: seal.root };
}

/** The note key under a log's name: C2SP wants a key's name to be that of the log. */
export function noteKey(origin: string, signer: Signer): NoteKey {
  const { publicKey } = signer;
  if (publicKey.kty !== 'OKP') throw new TypeError('notes are signed with Ed25519');
  return { name: origin, type: NoteKeyType.ed25519, publicKey: fromBase64(publicKey.x) };
}

/** The signed checkpoint of a state. Ed25519 signs the same text with the same bytes each time: nothing has to be kept. */
export async function checkpointNote(state: PublishedState, signer: Signer): Promise<string> {
  const text = encodeCheckpoint(state);
  return encodeNote(text, [signatureLine(noteKey(state.origin, signer), await signer.sign(utf8(text)))]);
}
