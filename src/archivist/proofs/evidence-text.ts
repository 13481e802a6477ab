/** The page that lies in every evidence bundle: what each file is, and how to check it without us. */
export const EVIDENCE_TEXT = `EVIDENCE OF ONE OPERATION

Before anything else: get the log's keys and the issuer's keys from the operator, over a way
that you trust. The copies in keys/ are here for convenience; keys that come with the
evidence prove nothing. A receipt verifies for ever: compare its kid with the published keys,
which keep retired ones.

event.json
  What happened, as the service shows it. The log covers: identity, event_attributes,
  asset_attributes, operation, behaviour, principal_declared, principal_accepted,
  tenant_identity and the three timestamps. It does not cover confirmation_status, from,
  transaction_id, block_number and asset_identity. Of an asset-free event it covers
  attributes and trails, and through the trie its identity and tenancy.

The vCon
  event_attributes.payload is the SHA-256, in hex, of the vCon's bytes at that moment:
    sha256sum call.vcon.json
  A copy that was re-indented or re-encoded has another hash: hash the bytes that the
  conserver held (Python: json.dumps of the stored document with default separators).

signed-statement.cose
  A tagged COSE_Sign1 (RFC 9052) made by the issuer: payload is that hash, the protected
  header names the issuer (CWT claims, label 15) and the vCon (subject).
  Any COSE library checks it with the issuer's key (keys/did.json, or the operator's
  did:web document). With OpenSSL alone: the signature (last 64 bytes, r||s) is ECDSA P-256
  with SHA-256 over CBOR ["Signature1", protected header, h'', payload].

statement-log-receipt.cose
  An RFC 9942 receipt, verifiable data structure 1 (RFC 9162 SHA-256): leaf is
  SHA-256(0x00 || signed-statement.cose), inner nodes SHA-256(0x01 || left || right). Any
  RFC 9942 verifier takes it with signed-statement.cose and keys/log-keys.cbor.

transparent-statement.cose
  The statement with both receipts under label 394, and the event as text under "event".

tenancy-log-receipt.cose, tenancy-log-receipt-map.cose
  A receipt of the tenancy's Merkle mountain range (verifiable data structure 3) for the
  event's leaf, SHA-256(0x00 || idtimestamp, 8 bytes || bencode of the covered fields). The
  first has the proof as the current MMR profile draft writes it, the second as a CBOR map.

log/
  The log file that holds the event, and its seal (a COSE_Sign1 over the log's peaks), laid
  out as replication tools do. With the veracity tool:
    veracity --data-local log/tenant/<uuid>/0/massifs --tenant tenant/<uuid> verify-included event.json
  It recomputes the leaf from event.json and proves it against the file. The same files can
  be fetched again at any time from the operator's /verifiabledata: a log that has been
  rewritten since cannot contain the same nodes.

witness/ (only of an event that witnesses have vouched for)
  Others, who do not belong to the operator, watch the operator's public statement log and
  cosign its checkpoints only when each extends what they have seen. seal.sth is a seal over
  the peaks of the event's log, and an entry of that public log; event-in-seal.json has the
  path (hex, lowest first) from the event's leaf to its peak, and all peaks. seal.tlog-proof
  (C2SP tlog-proof) has the place of SHA-256(0x00 || seal.sth) in the public log, its
  RFC 9162 path, and the checkpoint with its cosignatures: Ed25519 over
  "cosignature/v1\\ntime <seconds>\\n" and the checkpoint's text (C2SP tlog-cosignature).
  Get the witnesses' keys from the witnesses. The checkpoint's root, reached from seal.sth and
  cosigned by enough of them, is what nobody can have been shown otherwise. Any tool that
  takes tlog-proof files checks seal.tlog-proof with seal.sth as the entry.

With our own tool, offline:
    vcon-archivist verify --log-keys <yours> --issuer-keys <yours> call.vcon.json transparent-statement.cose
    vcon-archivist verify --log-keys <yours> event.json log
    vcon-archivist verify --log-keys <yours> --issuer-keys <yours> --witness <name+hash+key> evidence.zip
`;
