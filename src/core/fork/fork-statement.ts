import { type CborMap, type CborValue, encodeCbor } from '../cose/cbor.js';
import { coseKeyFromJwk } from '../cose/cose-key.js';
import { Claim, CONFIRMATION_KEY, Header } from '../cose/labels.js';
import { createSign1, encodeSign1 } from '../cose/sign1.js';
import type { Signer } from '../cose/signature.js';

/** Header 3 of a fork statement. */
export const FORK_TYPE = 'application/vcon-archivist.log-fork+cbor';
export const FORK_VERSION = 1;
/** Characters of a reason. */
export const MOST_REASON = 500;

/** The last seal of the log that ends, as the object store has it. */
export interface LastSeal {
  /** The name of the log that made this seal. */
  readonly log: string;
  readonly number: bigint;
  /** Leaves under it. */
  readonly leaves: bigint;
  /** MMR: the seal file. RFC 9162: CBOR [leaves, signed root]. */
  readonly seal: Uint8Array;
}

/** What the first entry of an openly forked log says (docs/formats/fork.md). */
export interface LogFork {
  /** The name of the new log. */
  readonly log: string;
  /** The name of the log that the database knew. */
  readonly continues: string;
  /** The number of the last seal that the database had: the numbers of the new log's seals continue after it. */
  readonly sealNumber: bigint;
  /** Leaves that both logs share: those of the database. The statement is the leaf with this index. */
  readonly leaves: bigint;
  /** Root of these leaves: the RFC 9162 root, or an MMR's bagged peaks. */
  readonly root: Uint8Array;
  readonly last: LastSeal;
  readonly reason: string;
  /** Unix milliseconds. */
  readonly forkedAtMs: number;
}

/** Labels of the payload's maps. */
export const ForkMember = {
  version: 1,
  log: 2,
  continues: 3,
  leaves: 4,
  root: 5,
  last: 6,
  reason: 7,
  at: 8,
  sealNumber: 9,
} as const;
export const LastMember = { log: 1, number: 2, leaves: 3, seal: 4 } as const;

/** A count is a number wherever CBOR would read it as one. */
function countValue(count: bigint): CborValue {
  return count <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(count) : count;
}

/** Returns the payload that is signed: the same bytes for the same fork. */
export function encodeForkPayload({ last, ...fork }: LogFork): Uint8Array {
  return encodeCbor(
    new Map<number, CborValue>([
      [ForkMember.version, FORK_VERSION],
      [ForkMember.log, fork.log],
      [ForkMember.continues, fork.continues],
      [ForkMember.leaves, countValue(fork.leaves)],
      [ForkMember.root, fork.root],
      [
        ForkMember.last,
        new Map<number, CborValue>([
          [LastMember.log, last.log],
          [LastMember.number, countValue(last.number)],
          [LastMember.leaves, countValue(last.leaves)],
          [LastMember.seal, last.seal],
        ]),
      ],
      [ForkMember.reason, fork.reason],
      [ForkMember.at, fork.forkedAtMs],
      [ForkMember.sealNumber, countValue(fork.sealNumber)],
    ]),
  );
}

/**
 * Signs a fork statement with the key that signs the log's seals or receipts. Resolves with the tagged COSE_Sign1, as
 * the new log holds it.
 * @param issuer the log's issuer: a name that proves nothing
 */
export async function signForkStatement(fork: LogFork, signer: Signer, issuer: string): Promise<Uint8Array> {
  const header: CborMap = new Map<number, CborValue>([
    [Header.alg, signer.alg],
    [Header.contentType, FORK_TYPE],
    [Header.kid, signer.kid],
    [
      Header.claims,
      new Map<number, CborValue>([
        [Claim.issuer, issuer],
        [Claim.subject, fork.log],
        [Claim.confirmation, new Map([[CONFIRMATION_KEY, coseKeyFromJwk(signer.publicKey, signer.kid)]])],
      ]),
    ],
  ]);
  return encodeSign1(await createSign1(header, encodeForkPayload(fork), signer));
}
