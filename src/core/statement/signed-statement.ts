import { HASHES } from '../cose/algorithms.js';
import type { CborMap, CborValue } from '../cose/cbor.js';
import { Claim, HASHED_STATEMENT_TYPE, Header } from '../cose/labels.js';
import { protectedClaims } from '../cose/protected-claims.js';
import type { Sign1, Sign1Message } from '../cose/sign1.js';
import { VerificationError } from '../errors.js';
import { decodeStatement } from './decode-statement.js';
import type { VconTemplate } from './vcon-template.js';

/** The signer of a statement, and the form of its headers. */
export interface StatementSigner {
  /** The issuer's name, claim 1. */
  readonly issuer: string;
  readonly kid: Uint8Array;
  readonly alg: number;
  /** Under which headers the hash envelope is written; the interface's private ones when it is not said. */
  readonly labels?: HashEnvelopeLabels;
}

/** The interface's private headers (−6800 to −6802), or those registered for hash envelopes (258 to 260). */
export type HashEnvelopeLabels = 'private' | 'registered';

const LABELS = {
  private: {
    hashAlg: Header.privatePayloadHashAlg,
    location: Header.privatePayloadLocation,
    contentType: Header.privatePreimageContentType,
  },
  registered: {
    hashAlg: Header.payloadHashAlg,
    location: Header.payloadLocation,
    contentType: Header.preimageContentType,
  },
} as const satisfies Record<HashEnvelopeLabels, object>;

/** The headers that a statement may mark critical, because readers or verifiers of signatures process them. */
export const STATEMENT_HEADERS: readonly number[] = [
  Header.alg,
  Header.contentType,
  Header.kid,
  Header.draftClaims,
  Header.claims,
  Header.type,
  Header.x5chain,
  Header.x5t,
  Header.payloadHashAlg,
  Header.preimageContentType,
  Header.payloadLocation,
  Header.privatePayloadHashAlg,
  Header.privatePayloadLocation,
  Header.privatePreimageContentType,
  Header.privateMetaMap,
];

/** A signed statement that was read. Nothing in it is checked yet. */
export interface ReadStatement {
  readonly sign1: Sign1;
  readonly issuer?: string;
  readonly subject?: string;
  readonly kid?: Uint8Array;
  /** The hash envelope's digest; absent when the payload is carried itself, or is detached. */
  readonly payloadHash?: Uint8Array;
  /** COSE number of the digest's algorithm; present when the statement is a hash envelope. */
  readonly payloadHashAlg?: number;
  readonly preimageContentType?: string | number | bigint;
  readonly payloadLocation?: string;
  /** The meta-map as it is; others put values into it that are not text. */
  readonly meta: CborMap;
}

/**
 * Returns the protected header of a vCon operation's statement: a hash envelope under the signer's labels, and the
 * meta-map, which is always under the private label. Members that the template lacks are left out.
 */
export function statementHeader(template: VconTemplate, signer: StatementSigner): CborMap {
  const { preimageContentType, payloadLocation, meta } = template;
  const label = LABELS[signer.labels ?? 'private'];
  return new Map<number, CborValue>([
    [Header.alg, signer.alg],
    [Header.kid, signer.kid],
    [
      Header.claims,
      new Map([
        [Claim.issuer, signer.issuer],
        [Claim.subject, template.subject],
      ]),
    ],
    [Header.type, HASHED_STATEMENT_TYPE],
    [label.hashAlg, template.payloadHashAlg],
    ...(payloadLocation === undefined ? [] : [[label.location, payloadLocation] as const]),
    ...(preimageContentType === undefined ? [] : [[label.contentType, preimageContentType] as const]),
    [Header.privateMetaMap, new Map(meta)],
  ]);
}

function eitherLabel(header: CborMap, final: number, draft: number): CborValue | undefined {
  const [first, second] = [header.get(final), header.get(draft)];
  if (first !== undefined && second !== undefined && first !== second)
    throw new VerificationError('malformed', `headers ${final} and ${draft} of a statement contradict each other`);
  return first ?? second ?? undefined;
}

function checkEnvelope(sign1: Sign1): void {
  for (const label of [Header.payloadHashAlg, Header.preimageContentType, Header.payloadLocation])
    if (sign1.unprotectedHeader.has(label))
      throw new VerificationError('malformed', `header ${label} of a hash envelope is unprotected`);
  if (!sign1.protectedHeader.has(Header.payloadHashAlg)) return;
  if (sign1.protectedHeader.has(Header.contentType) || sign1.unprotectedHeader.has(Header.contentType))
    throw new VerificationError('malformed', 'a hash envelope has a content type (3)');
}

/**
 * Checks that the payload of a hash envelope under the registered label (258) has the length of its algorithm's digest.
 * `readStatement` does not check it, because statements that an earlier version has registered must stay readable.
 * @throws {VerificationError} `malformed`, or `unsupported` for an unknown algorithm that is critical
 */
export function checkPayloadHash({ protectedHeader, payload }: Sign1): void {
  const alg = protectedHeader.get(Header.payloadHashAlg);
  if (alg === undefined) return;
  const hash = Object.values(HASHES).find((known) => known.alg === alg);
  const critical = protectedHeader.get(Header.crit);
  if (!hash && Array.isArray(critical) && critical.includes(Header.payloadHashAlg))
    throw new VerificationError('unsupported', 'a critical hash algorithm (258) is not understood');
  if (hash && payload && payload.length !== hash.length)
    throw new VerificationError('malformed', `the payload of a hash envelope is no ${hash.name} digest`);
}

/**
 * Reads a signed statement. Hash envelopes may have the final labels (258–260, RFC 9995) or the
 * private ones; claims may be at 15 or, from before RFC 9597, at 13. Only protected headers count.
 * @throws {VerificationError} `malformed`
 */
export function readStatement(statement: Sign1Message): ReadStatement {
  const sign1 = decodeStatement(statement);
  checkEnvelope(sign1);
  const header = sign1.protectedHeader;
  const claims: CborMap = protectedClaims(header) ?? new Map();
  const [issuer, subject, kid] = [claims.get(Claim.issuer), claims.get(Claim.subject), header.get(Header.kid)];
  const hashAlg = eitherLabel(header, Header.payloadHashAlg, Header.privatePayloadHashAlg);
  if (hashAlg !== undefined && typeof hashAlg !== 'number')
    throw new VerificationError('malformed', 'the payload hash algorithm of a statement is not a number');
  const contentType = eitherLabel(header, Header.preimageContentType, Header.privatePreimageContentType);
  const location = eitherLabel(header, Header.payloadLocation, Header.privatePayloadLocation);
  const meta = header.get(Header.privateMetaMap);
  return {
    sign1,
    ...(typeof issuer === 'string' ? { issuer } : {}),
    ...(typeof subject === 'string' ? { subject } : {}),
    ...(kid instanceof Uint8Array ? { kid } : {}),
    ...(hashAlg === undefined ? {} : { payloadHashAlg: hashAlg }),
    ...(hashAlg !== undefined && sign1.payload ? { payloadHash: sign1.payload } : {}),
    ...(typeof contentType === 'string' || typeof contentType === 'number' || typeof contentType === 'bigint'
      ? { preimageContentType: contentType }
      : {}),
    ...(typeof location === 'string' && location !== '' ? { payloadLocation: location } : {}),
    meta: meta instanceof Map ? meta : new Map(),
  };
}
