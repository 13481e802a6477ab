// What another program, or a page, needs to check evidence by itself: bytes in, verdicts out. Everything here runs in a
// browser; nothing here reads a file, a clock or the network.
export { fromBase64, fromHex, toBase64, toBase64Url, toHex, utf8 } from './bytes.js';
export {
  type CborLimits,
  type CborMap,
  type CborValue,
  decodeCbor,
  encodeCbor,
} from './cose/cbor.js';
export { CborFloat } from './cose/cbor-float.js';
export {
  coseKeyFromJwk,
  decodeCoseKeySet,
  encodeCoseKeySet,
  jwkFromCoseKey,
  keyThumbprint,
} from './cose/cose-key.js';
export { readKeyDocument } from './cose/key-document.js';
export { plainVerify } from './cose/plain-verify.js';
export { type PublicJwk, publicJwk } from './cose/public-key.js';
export {
  createSign1,
  decodeSign1,
  encodeSign1,
  type Sign1,
  type Sign1Message,
  type Sign1Parts,
  signatureInput,
} from './cose/sign1.js';
export type { Signer, VerifySignature } from './cose/signature.js';
export { webCryptoVerify } from './cose/web-crypto-verify.js';
export { type VerificationCode, VerificationError } from './errors.js';
export { assetEventLeaf } from './event/asset-event-leaf.js';
export { assetFreeExtraBytes, assetFreeLeaf } from './event/asset-free-leaf.js';
export type { V3Event } from './event/v3-event.js';
export { type EvidenceFile, type EvidenceFolder, evidenceFile, evidenceFolder } from './evidence/evidence-file.js';
export type { EvidenceKind } from './evidence/evidence-kind.js';
export type { GivenTrust } from './evidence/given-trust.js';
export { type ManifestSource, manifestSources } from './evidence/manifest-sources.js';
export { claimedRoot, type RootTrust, trustRoot, verifyUnderRoot } from './evidence/root-trust.js';
export { UsageError } from './evidence/usage-error.js';
export { type EvidenceVerdict, NotEvidence, verifyEvidence } from './evidence/verify-evidence.js';
export { parseRootFingerprint, rootFingerprint } from './keys/root-fingerprint.js';
export { idtimestampHex, idtimestampMs, parseIdtimestampHex } from './massif/idtimestamp.js';
export { type Massif, readMassif } from './massif/read-massif.js';
export { baggedRoot } from './mmr/bagged-root.js';
export { consistencyProofPaths } from './mmr/consistency-proof-paths.js';
export { consistentRoots } from './mmr/consistent-roots.js';
export { includedRoot } from './mmr/included-root.js';
export { inclusionProofPath } from './mmr/inclusion-proof-path.js';
export { indexHeight } from './mmr/index-height.js';
export { isCompleteSize, leafCount, leafIndex, mmrIndex, sizeOfLeaves } from './mmr/leaf-count.js';

export { peaks } from './mmr/peaks.js';
export type { LogName } from './receipt/log-claims.js';
export {
  attachInclusion,
  type MmrProofForm,
  type MmrReceipt,
  mmrReceiptInForm,
  readMmrReceipt,
} from './receipt/mmr-receipt.js';
export {
  attachRfc9162Consistency,
  attachRfc9162Inclusion,
  type Rfc9162Receipt,
  readRfc9162Receipt,
} from './receipt/rfc9162-receipt.js';
export { type MmrState, readSeal, type Seal } from './receipt/seal.js';
export { rfc9162VerifyConsistency } from './rfc9162/rfc9162-consistency.js';
export { rfc9162Leaf } from './rfc9162/rfc9162-leaf.js';
export { rfc9162RootFromInclusion } from './rfc9162/rfc9162-root-from-inclusion.js';
export { type Sha256, sha256 } from './sha256.js';
export {
  type AssetEventDocument,
  type AssetFreeEventDocument,
  type EventDocument,
  parseEventDocument,
} from './statement/event-document.js';
export { type ReadStatement, readStatement } from './statement/signed-statement.js';
export { statementEntry } from './statement/statement-entry.js';
export {
  type AttachedReceipt,
  type ReadTransparentStatement,
  readTransparentStatement,
  receiptsOfStructure,
} from './statement/transparent-statement.js';
export { readTemplate, TEMPLATE_VERSION, type VconTemplate } from './statement/vcon-template.js';
export { decodeVkey, encodeVkey, type NoteKey } from './tlog/signed-note.js';
export { decodeTlogProof, type TlogProof } from './tlog/tlog-proof.js';
export { vconHashes } from './vcon/vcon-hash.js';
export type {
  Claim,
  ClaimKind,
  DigestProof,
  Facts,
  InclusionProof,
  KeyId,
  NamedLog,
  Proof,
  SealProof,
  SignatureProof,
  WitnessProof,
} from './verify/claim.js';
export { verifyEventMatchesStatement } from './verify/event-of-statement.js';
export {
  type DocumentDigests,
  type DocumentForm,
  type DocumentMatch,
  documentFindings,
  matchDocument,
} from './verify/match-document.js';
export type { CertificateTrust, ExpectedLog, IssuerTrust, LogTrust } from './verify/trust.js';
export {
  type Contradiction,
  createVerdict,
  type Findings,
  type Missing,
  type MissingKind,
  type NotCovered,
  type NotCoveredReason,
  type Outcome,
  requireVerified,
  type TakenFor,
  VERDICT_SCHEMA,
  type Verdict,
  verdictDocument,
  verdictWithin,
} from './verify/verdict.js';
export {
  type HeldState,
  verifyConsistency,
  verifyMmrConsistencyReceipt,
  verifyRfc9162ConsistencyReceipt,
} from './verify/verify-consistency.js';
export { type EventLeaf, eventLeaf } from './verify/verify-event.js';
export { verifyEvent } from './verify/verify-event-in-log.js';
export { type ProvenMassif, proveLog, type SealedMassif } from './verify/verify-log.js';
export { verifyMassif } from './verify/verify-massif.js';
export { type PublicAssetDocument, type PublicEvent, verifyPublicAsset } from './verify/verify-public-asset.js';
export {
  type AnyReceiptTrust,
  type Proven,
  type ReceiptSubject,
  type ReceiptTrust,
  verifyMmrReceipt,
  verifyReceipt,
  verifyRfc9162Receipt,
} from './verify/verify-receipt.js';
export { verifySeal } from './verify/verify-seal.js';
export { type ProvenRegistration, type VerifiedStatement, verifyStatement } from './verify/verify-statement.js';
export {
  examineTransparentStatement,
  type TransparentStatementTrust,
  verifyTransparentStatement,
} from './verify/verify-transparent-statement.js';
export { verifyWitnessed, type Witnessed, type WitnessedSeal, type WitnessTrust } from './verify/verify-witnessed.js';
