import type { VerificationCode } from '../errors.js';

/** What a refusal means to the person who has the files. Codes without an entry need no explanation. */
export const REFUSAL_MEANINGS: Readonly<Partial<Record<VerificationCode, string>>> = {
  malformed: 'It has the form of evidence, but parts of it are damaged or contradict each other.',
  payload_hash_mismatch: 'This is not the document that the evidence is about, or it was changed afterwards.',
  statement_signature_invalid: 'The statement was changed after its issuer signed it, or its issuer never signed it.',
  issuer_key_not_trusted:
    'It was recorded by another issuer than the one that you named, or signed with a key that you did not give.',
  root_not_trusted:
    'The evidence is from another service than the one whose root fingerprint you gave, or it is forged. Check that the fingerprint is of the service that recorded it.',
  certificate_invalid: 'The signer’s certificates are broken, name another signer, or were not valid at that time.',
  bundle_mismatch: 'A file of the bundle was lost or changed after the bundle was made.',
  inclusion_path_invalid: 'The receipt does not lead from this entry to any root of the log.',
  receipt_signature_invalid:
    'The log never signed a tree with this entry: the entry was changed, or the receipt is for another one.',
  log_key_not_trusted: 'The log signed with a key that you did not give.',
  log_mismatch: 'The signature is genuine, but it is from a different log than the one that this entry belongs to.',
  event_mismatch: 'The event was changed, or it is about another operation.',
  leaf_mismatch: 'The log holds a different leaf at the index that the event names: the event was changed or swapped.',
  consistency_invalid: 'The log shows two histories. Keep both files: together they prove it.',
  seal_signature_invalid: 'The log’s operator never signed this state of the log.',
  massif_corrupt: 'A log file was changed or damaged after it was written.',
  checkpoint_signature_invalid: 'The checkpoint was changed after it was signed, or the log never signed it.',
  witness_quorum_missing: 'Fewer of your witnesses than you require have seen this state of the log.',
  algorithm_not_allowed:
    'The signature algorithm is missing, weak or does not match the key: such signatures are easy to forge.',
  critical_header_unknown: 'The signer requires a check that this program does not support.',
  signature_malformed: 'The signature is malformed.',
  key_invalid: 'One of the keys is broken.',
};
