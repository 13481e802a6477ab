/** The name under which a log signs. Every member is as the log wrote it into its protected header. */
export interface NamedLog {
  readonly issuer?: string;
  readonly subject?: string;
}

/** A key that verified a signature. */
export interface KeyId {
  /** COSE key thumbprint with SHA-256 (RFC 9679), hex: the same key has no other one. */
  readonly thumbprint: string;
  /** The name that the key was given under; several keys may share one. */
  readonly kid?: string;
}

/** A signature by the key of a statement's issuer. */
export interface SignatureProof {
  readonly type: 'signature';
  readonly issuer?: string;
  /** Whether the caller named the issuer it expects. Without that, any issuer of the given keys passes. */
  readonly issuer_pinned: boolean;
  readonly key: KeyId;
  /** RFC 3339: when the signer's certificates had to be valid, where the key was found through certificates. */
  readonly certificate_valid_at?: string;
}

/**
 * A path from a leaf to a root, peak or sealed state that a log signed. A position is present only if the path proves
 * it.
 */
export interface InclusionProof {
  readonly type: 'inclusion';
  readonly log: NamedLog;
  /** Verifiable data structure (RFC 9942): 1 is RFC 9162, 3 a Merkle mountain range. */
  readonly vds: 1 | 3;
  /** What carries the log's signature. */
  readonly signed: 'root' | 'peak' | 'seal';
  /** The leaf hash, hex. */
  readonly leaf: string;
  /** Decimal, from 0. */
  readonly leaf_index?: string;
  /** Decimal node index, of a Merkle mountain range. */
  readonly mmr_index?: string;
  /** Decimal: entries of an RFC 9162 tree, nodes of a Merkle mountain range. */
  readonly tree_size?: string;
  /** As of a `SealProof`, where a seal carries the signature. */
  readonly sealed_at?: string;
  readonly newest_leaf_at?: string;
  readonly key: KeyId;
}

/** The times that a seal signs. */
export interface SealTimes {
  /** Decimal: nodes. */
  readonly tree_size: string;
  /** RFC 3339, by the sealer's clock. */
  readonly sealed_at: string;
  /** RFC 3339: the time of the idtimestamp of the newest leaf under it; absent if RFC 3339 cannot write it. */
  readonly newest_leaf_at?: string;
}

/** A seal: the log's signature over its peaks and the time of its last leaf. */
export interface SealProof extends SealTimes {
  readonly type: 'seal';
  readonly log: NamedLog;
  readonly vds: 3;
  readonly key: KeyId;
}

/** A checkpoint of a statement log that witnesses cosigned. */
export interface WitnessProof {
  readonly type: 'witness';
  readonly origin: string;
  /** Decimal: entries under the checkpoint, and which of them is witnessed. */
  readonly tree_size: string;
  readonly leaf_index: string;
  /** Names of the witnesses whose cosignatures verified. */
  readonly witnesses: readonly string[];
}

/** Two equal digests: that of a document, and one in bytes that a proof covers. */
export interface DigestProof {
  readonly type: 'digest';
  /** The piece whose covered bytes hold the digest, and the member there. */
  readonly of: string;
  readonly member: 'payload_hash' | 'payload_sha256' | 'payload_jcs_sha256' | 'members';
}

export type Proof = SignatureProof | InclusionProof | SealProof | WitnessProof | DigestProof;

/** What a claim is about. */
export type ClaimKind =
  /** A signed statement: its members are the issuer's words. */
  | 'statement'
  /** The frozen event that a tenancy log holds. */
  | 'event'
  /** An entry of a statement log whose own signature was not checked. */
  | 'entry'
  /** A document, found to be the one that a statement is about. */
  | 'document'
  /** A copy of a log. */
  | 'log'
  /** A log's newer state that extends an older one. */
  | 'extension'
  /** A public asset, as its events made it. */
  | 'public_asset'
  /** A log's state that witnesses have seen. */
  | 'witnessed';

/**
 * Proven members. Each is from bytes that a proof of the same claim covers. An absent member is not proven, or the
 * evidence does not have it.
 */
export interface Facts {
  /** Of the event: `assets/<uuid>/events/<uuid>` and its forms. */
  readonly identity?: string;
  /** Of the event: the last part of its identity. */
  readonly uuid?: string;
  readonly event_kind?: 'asset' | 'asset_free' | 'public';
  readonly event_type?: string;
  /** The vCon operation, such as `vcon_created`. */
  readonly operation?: string;
  /** What the evidence is about, such as `vcon://<uuid>`. */
  readonly subject?: string;
  /** Uuid of the vCon that the subject names. */
  readonly vcon?: string;
  /** Hex. */
  readonly payload_hash?: string;
  /** Such as `SHA-256`. */
  readonly payload_hash_alg?: string;
  /** Hex: SHA-256 of the payload that a statement carries itself. */
  readonly payload_sha256?: string;
  /** Hex: SHA-256 of the canonical form (RFC 8785) of the same document. */
  readonly payload_jcs_sha256?: string;
  /** Hex: SHA-256 of the record of an asset-free event (docs/formats/asset-free-record.md). */
  readonly record_hash?: string;
  readonly payload_content_type?: string;
  readonly payload_location?: string;
  /** Issuer of the statement. */
  readonly issuer?: string;
  /**
   * Uuid of the tenancy that speaks, at the service whose log the claim's proofs name: of the event, or of a statement's
   * issuer that was pinned or is a tenancy of that service.
   */
  readonly tenancy?: string;
  /** The identity that the service authenticated for the event. */
  readonly principal?: Readonly<Record<string, unknown>>;
  readonly created_by?: string;
  /** RFC 3339, as the client declared it. */
  readonly declared?: string;
  /** RFC 3339, when the service accepted the event. */
  readonly accepted?: string;
  /** RFC 3339, when the log committed to the event: the time of the idtimestamp that its leaf covers. */
  readonly committed?: string;
  /** Every other covered member, under its own name. */
  readonly members?: Readonly<Record<string, unknown>>;
  /** Of a document: the form whose digest matched (docs/formats/vcon-forms.md). */
  readonly form?: string;
  /** Of a log: numbers of the first and the last massif, decimal. */
  readonly first_massif?: string;
  readonly last_massif?: string;
  /** Of a log or an extension, decimal: nodes of the older and of the newer state. */
  readonly older_size?: string;
  readonly size?: string;
  /** Of a public asset. */
  readonly attributes?: Readonly<Record<string, unknown>>;
  /** Of a public asset: how many events prove it. */
  readonly events?: number;
}

/** Facts about one piece of evidence, and what proves them. */
export interface Claim {
  readonly kind: ClaimKind;
  /** The piece of evidence that states the facts. */
  readonly piece: string;
  /** The file or folder whose statement and events are proven to be about one operation. Folders end in `/`. */
  readonly operation_in?: string;
  readonly facts: Facts;
  readonly by: readonly Proof[];
}
