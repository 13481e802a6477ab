import { toBase64Url } from '../bytes.js';
import type { CborMap, CborValue } from '../cose/cbor.js';
import { coseKeyFromJwk, jwkFromCoseKey } from '../cose/cose-key.js';
import { Claim, CONFIRMATION_KEY, KeyParameter } from '../cose/labels.js';
import { protectedClaims } from '../cose/protected-claims.js';
import type { PublicJwk } from '../cose/public-key.js';
import type { Signer } from '../cose/signature.js';
import type { Mutable } from '../mutable.js';

/** A log's name in everything it signs. It never holds an entry, a size or a file: signatures are made once and reused. */
export interface LogName {
  readonly issuer: string;
  readonly subject: string;
}

/** Returns the subject of a tenancy's log. The public log carries the public tenancy's uuid. */
export function tenancyLogSubject(tenancyUuid: string): string {
  return `tenant/${tenancyUuid}`;
}

/** Returns the uuid of the tenancy whose log the claims name; undefined if the subject names none, or several. */
export function tenancyOfLog({ subject }: ReadLogClaims): string | undefined {
  const uuids = new Set(subject?.match(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g));
  return uuids.size === 1 ? [...uuids][0] : undefined;
}

/** Returns claims with only the name. */
export function logClaims(name: LogName): CborMap {
  return new Map([
    [Claim.issuer, name.issuer],
    [Claim.subject, name.subject],
  ]);
}

/**
 * Returns the claims of seals and MMR receipts: the name and, for clients that look nowhere else, the signing key. Its
 * kid is text, because the Go reader accepts nothing else.
 */
export function sealerClaims(name: LogName, signer: Signer): CborMap {
  const key = coseKeyFromJwk(signer.publicKey, signer.kid).set(KeyParameter.kid, toBase64Url(signer.kid));
  return logClaims(name).set(Claim.confirmation, new Map([[CONFIRMATION_KEY, key]]));
}

/** What a log says of itself in a protected header. The key is only a claim: it helps to find a trusted key and is never trusted itself. */
export interface ReadLogClaims {
  readonly issuer?: string;
  readonly subject?: string;
  readonly claimedKey?: CborValue;
}

/**
 * Reads claims at label 15 or, in older seals, at 13.
 * @throws {VerificationError} `malformed` if both are there and name two logs or keys
 */
export function readLogClaims(header: CborMap): ReadLogClaims {
  const claims = protectedClaims(header);
  if (!claims) return {};
  const [issuer, subject, confirmation] = [
    claims.get(Claim.issuer),
    claims.get(Claim.subject),
    claims.get(Claim.confirmation),
  ];
  const claimedKey = confirmation instanceof Map ? confirmation.get(CONFIRMATION_KEY) : undefined;
  const read: Mutable<ReadLogClaims> = {};
  if (typeof issuer === 'string') read.issuer = issuer;
  if (typeof subject === 'string') read.subject = subject;
  if (claimedKey !== undefined) read.claimedKey = claimedKey;
  return read;
}

/** Returns the claimed key as a JWK. @throws {VerificationError} `unsupported` or `key_invalid` */
export function claimedJwk(claims: ReadLogClaims): PublicJwk | undefined {
  return claims.claimedKey === undefined ? undefined : jwkFromCoseKey(claims.claimedKey);
}
