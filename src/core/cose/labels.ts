/** COSE header parameters (RFC 9052 table 3, RFC 9597, RFC 9596, RFC 9942) and the private ones of the interface. */
export const Header = {
  alg: 1,
  crit: 2,
  contentType: 3,
  kid: 4,
  /** Claims where drafts before RFC 9597 put them; today assigned to `kcwt`, so only a map here means claims. */
  draftClaims: 13,
  claims: 15,
  type: 16,
  /** Certificates, the signer's first (RFC 9360). */
  x5chain: 33,
  /** Hash of the signer's certificate (RFC 9360). */
  x5t: 34,
  payloadHashAlg: 258,
  preimageContentType: 259,
  payloadLocation: 260,
  receipts: 394,
  verifiableDataStructure: 395,
  verifiableDataProofs: 396,
  privatePayloadHashAlg: -6800,
  privatePayloadLocation: -6801,
  privatePreimageContentType: -6802,
  privateMetaMap: -6804,
  /** A seal's pre-signed receipts, one a peak, left to right. */
  peakReceipts: -65931,
  /** Entries of the RFC 9162 tree whose root is signed: a path alone fits trees of several sizes. */
  treeSize: -65932,
  /** SHA-256 of an asset-free event's record, in the statement of its vCon operation. */
  assetFreeRecord: -65933,
} as const;

/** The unprotected text key under which a transparent statement carries its frozen event. */
export const EVENT_HEADER = 'event';

/** CWT claims (RFC 8392) and the confirmation claim (RFC 8747). */
export const Claim = { issuer: 1, subject: 2, confirmation: 8 } as const;

/** The one member of a confirmation claim that we write: a COSE_Key (RFC 8747 section 3.2). */
export const CONFIRMATION_KEY = 1;

/** COSE_Key parameters (RFC 9052 section 7, RFC 9053 section 7). */
export const KeyParameter = { kty: 1, kid: 2, alg: 3, keyOps: 4, crv: -1, x: -2, y: -3 } as const;

/** Parameters of an RSA key, under the same numbers (RFC 8230 section 4). */
export const RsaParameter = { n: -1, e: -2 } as const;

export const KeyType = { okp: 1, ec2: 2, rsa: 3 } as const;

/** Verifiable data structures (RFC 9942; 3 is the MMR profile's). */
export const DataStructure = { rfc9162Sha256: 1, mmrSha256: 3 } as const;

/** Keys of the proofs map, label 396 (RFC 9942). */
export const ProofType = { inclusion: -1, consistency: -2 } as const;

/** Media type of a hashed payload's statement, header 16. */
export const HASHED_STATEMENT_TYPE = 'application/hashed+cose';

/** CBOR tag of COSE_Sign1. */
export const SIGN1_TAG = 18;
