/** Every way in which evidence can fail to hold. The code is stable; a program may switch on it. */
export type VerificationCode =
  | 'malformed'
  | 'unsupported'
  | 'payload_hash_mismatch'
  | 'statement_signature_invalid'
  | 'issuer_key_not_trusted'
  | 'certificate_invalid'
  | 'receipt_missing'
  | 'inclusion_path_invalid'
  | 'receipt_signature_invalid'
  | 'log_key_not_trusted'
  | 'log_mismatch'
  | 'event_mismatch'
  | 'leaf_mismatch'
  | 'consistency_invalid'
  | 'seal_signature_invalid'
  | 'checkpoint_signature_invalid'
  | 'witness_quorum_missing'
  | 'massif_corrupt'
  | 'insufficient_data'
  | 'bundle_mismatch'
  | 'algorithm_not_allowed'
  | 'critical_header_unknown'
  | 'signature_malformed'
  | 'root_not_trusted'
  | 'manifest_signature_invalid'
  | 'manifest_invalid'
  | 'manifest_older'
  | 'key_invalid';

/** Evidence that does not verify: `code` says which check refused it, `message` says it to a person. */
export class VerificationError extends Error {
  override readonly name = 'VerificationError';
  readonly code: VerificationCode;
  /** The member that differs, where one does. */
  readonly member: string | undefined;

  constructor(code: VerificationCode, message: string, member?: string) {
    super(message);
    this.code = code;
    this.member = member;
  }
}
