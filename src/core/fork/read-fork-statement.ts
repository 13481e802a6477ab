import { equalBytes } from '../bytes.js';
import { type CborValue, decodeCbor, encodeCbor } from '../cose/cbor.js';
import { Header } from '../cose/labels.js';
import type { PublicJwk } from '../cose/public-key.js';
import { decodeSign1, type Sign1 } from '../cose/sign1.js';
import type { VerifySignature } from '../cose/signature.js';
import { verifySign1 } from '../cose/verify-sign1.js';
import { VerificationError } from '../errors.js';
import { LAST_TIME_MS } from '../last-time.js';
import { leafCount } from '../mmr/leaf-count.js';
import { readLogClaims } from '../receipt/log-claims.js';
import { readSeal } from '../receipt/seal.js';
import {
  encodeForkPayload,
  FORK_TYPE,
  FORK_VERSION,
  ForkMember,
  LastMember,
  type LastSeal,
  type LogFork,
  MOST_REASON,
} from './fork-statement.js';
import { parseGeneration } from './log-generation.js';

/** An entry of a statement log is no longer than that (C2SP tlog-tiles). */
const MOST_BYTES = 0xffff;
const MOST_FORKS = 1_000;
const UNDERSTOOD = [Header.alg, Header.contentType, Header.kid, Header.claims] as const;

/** A fork statement as it was read; its signature is not checked yet. */
export interface ReadFork extends LogFork {
  readonly sign1: Sign1;
  /** As the new log holds it. */
  readonly bytes: Uint8Array;
}

function bad(reason: string): VerificationError {
  return new VerificationError('malformed', `not a fork statement: ${reason}`);
}

function count(value: CborValue | undefined, what: string): bigint {
  if ((typeof value !== 'number' && typeof value !== 'bigint') || value < 0) throw bad(`${what} is not a count`);
  return BigInt(value);
}

function bytes(value: CborValue | undefined, what: string): Uint8Array {
  if (!(value instanceof Uint8Array)) throw bad(`${what} is not bytes`);
  return value;
}

function logName(value: CborValue | undefined, what: string): string {
  if (typeof value !== 'string' || !parseGeneration(value)) throw bad(`${what} is not the name of a log`);
  return value;
}

function leavesOf(log: string, seal: Uint8Array): bigint {
  if (log.startsWith('tenant/')) return leafCount(readSeal(seal).state.size);
  const decoded = decodeCbor(seal);
  return Array.isArray(decoded) ? count(decoded[0], 'the size in its last seal') : count(undefined, 'its last seal');
}

function decodeLast(value: CborValue | undefined): LastSeal {
  if (!(value instanceof Map)) throw bad('it names no last seal');
  const last = {
    log: logName(value.get(LastMember.log), 'the log of its last seal'),
    number: count(value.get(LastMember.number), 'the number of its last seal'),
    leaves: count(value.get(LastMember.leaves), 'the size of its last seal'),
    seal: bytes(value.get(LastMember.seal), 'its last seal'),
  };
  if (leavesOf(last.log, last.seal) !== last.leaves) throw bad('its last seal is of another size than it says');
  return last;
}

function decodePayload(payload: Uint8Array): LogFork {
  const map = decodeCbor(payload, { maxBytes: MOST_BYTES });
  if (!(map instanceof Map)) throw bad('its payload is not a map');
  if (map.get(ForkMember.version) !== FORK_VERSION)
    throw new VerificationError('unsupported', 'a fork statement of another version');
  const [reason, forkedAtMs] = [map.get(ForkMember.reason), map.get(ForkMember.at)];
  if (typeof reason !== 'string' || reason.trim() === '' || reason.length > MOST_REASON) throw bad('it has no reason');
  if (
    typeof forkedAtMs !== 'number' ||
    !Number.isSafeInteger(forkedAtMs) ||
    forkedAtMs < 0 ||
    forkedAtMs > LAST_TIME_MS
  )
    throw bad('it has no time');
  const fork = {
    log: logName(map.get(ForkMember.log), 'its log'),
    continues: logName(map.get(ForkMember.continues), 'the log that it continues'),
    sealNumber: count(map.get(ForkMember.sealNumber), 'the number of the seal before it'),
    leaves: count(map.get(ForkMember.leaves), 'the number of shared leaves'),
    root: bytes(map.get(ForkMember.root), 'its root'),
    last: decodeLast(map.get(ForkMember.last)),
    reason,
    forkedAtMs,
  };
  if (fork.root.length !== 32) throw bad('its root is not 32 bytes');
  checkNames(fork);
  if (!equalBytes(encodeForkPayload(fork), payload)) throw bad('its payload is not encoded canonically');
  return fork;
}

/** Only one log is forked at a time, and only to a later generation of its name. */
function checkNames({ log, continues, last }: LogFork): void {
  const [next, known, ended] = [log, continues, last.log].map((name) => parseGeneration(name)!);
  if (known!.base !== next!.base || ended!.base !== next!.base) throw bad('it names two logs');
  if (known!.generation > ended!.generation || ended!.generation >= next!.generation)
    throw bad('the generations of its logs do not rise');
}

/**
 * Reads a fork statement: a tagged COSE_Sign1. Checks every member, that the encoding is canonical, and that the seal that
 * it carries is of the size that it says. `verifyForkStatement` checks the signature.
 * @throws {VerificationError} `malformed`, `unsupported`
 */
export function readForkStatement(message: Uint8Array): ReadFork {
  const sign1 = decodeSign1(message, { maxBytes: MOST_BYTES });
  if (sign1.protectedHeader.get(Header.contentType) !== FORK_TYPE) throw bad('it has another content type');
  if (sign1.payload === null) throw bad('it has no payload');
  if (sign1.unprotectedHeader.size > 0) throw bad('it has an unprotected header');
  const fork = decodePayload(sign1.payload);
  if (readLogClaims(sign1.protectedHeader).subject !== fork.log) throw bad('its subject is another log');
  return { ...fork, sign1, bytes: message };
}

/**
 * Checks the signature of a fork statement with the given keys of logs.
 * @throws {VerificationError} `log_key_not_trusted`, `seal_signature_invalid` and those of any signature
 */
export async function verifyForkStatement(
  fork: ReadFork,
  keys: readonly PublicJwk[],
  verifySignature?: VerifySignature,
): Promise<void> {
  await verifySign1(fork.sign1, fork.sign1.payload!, {
    what: 'the fork statement',
    keys,
    verifySignature,
    understood: UNDERSTOOD,
    untrusted: 'log_key_not_trusted',
    invalid: 'seal_signature_invalid',
  });
}

/** Encodes the fork statements of a log as they are published: a CBOR array of byte strings, oldest first. */
export function encodeForks(statements: readonly Uint8Array[]): Uint8Array {
  return encodeCbor([...statements]);
}

/** Reads the published fork statements of a log. @throws {VerificationError} `malformed`, `unsupported` */
export function decodeForks(published: Uint8Array): ReadFork[] {
  const list = decodeCbor(published, { maxBytes: MOST_FORKS * MOST_BYTES });
  if (!Array.isArray(list) || list.length > MOST_FORKS) throw bad('the published list is not a list');
  return list.map((statement) => readForkStatement(bytes(statement, 'an element of the list')));
}
