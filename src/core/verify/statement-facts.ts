import { toHex } from '../bytes.js';
import { isRecordStatement, statedRecord } from '../statement/event-statement.js';
import { tenancyOfIssuer } from '../statement/issuer-did.js';
import type { ReadStatement } from '../statement/signed-statement.js';
import { hashName, JCS_DIGEST_ATTRIBUTE } from '../statement/vcon-template.js';
import type { Facts, SignatureProof } from './claim.js';
import { covering, signedBy } from './covered-bytes.js';
import { vconOf } from './event-facts.js';
import { keyId } from './proofs.js';
import type { VerifiedStatement } from './verify-statement.js';

/** Texts of the meta-map; a value of another kind is nothing that a claim can show. */
function metaTexts({ meta }: ReadStatement): Record<string, string> {
  const texts = [...meta].filter(
    (entry): entry is [string, string] => typeof entry[0] === 'string' && typeof entry[1] === 'string',
  );
  return Object.fromEntries(texts);
}

/** What a signed statement says, all of it from its protected header and payload. The caller has checked the signature. */
export function statementFacts(statement: ReadStatement): Facts {
  const { issuer, subject, payloadHash, payloadHashAlg, preimageContentType, payloadLocation } = statement;
  const {
    vcon_operation: operation,
    timestamp_declared: declared,
    [JCS_DIGEST_ATTRIBUTE]: jcs,
    ...members
  } = metaTexts(statement);
  const tenancy = tenancyOfIssuer(issuer);
  const [isRecord, record] = [isRecordStatement(statement), statedRecord(statement)];
  return {
    ...(issuer === undefined ? {} : { issuer }),
    ...(tenancy === undefined ? {} : { tenancy }),
    ...(operation === undefined ? {} : { operation }),
    ...(subject === undefined ? {} : { subject }),
    ...vconOf(subject),
    ...(payloadHash === undefined || isRecord ? {} : { payload_hash: toHex(payloadHash) }),
    ...(payloadHashAlg === undefined || isRecord ? {} : { payload_hash_alg: hashName(payloadHashAlg) }),
    ...(record === undefined ? {} : { record_hash: toHex(record) }),
    ...(jcs === undefined ? {} : { payload_jcs_sha256: jcs }),
    ...(preimageContentType === undefined ? {} : { payload_content_type: String(preimageContentType) }),
    ...(payloadLocation === undefined ? {} : { payload_location: payloadLocation }),
    ...(declared === undefined ? {} : { declared }),
    ...(Object.keys(members).length === 0 ? {} : { members }),
  };
}

/** The proof that a checked signature is. */
export function signatureProof(statement: VerifiedStatement): SignatureProof {
  const { issuer, key, issuerPinned, certificateValidAtMs: at, sign1 } = statement;
  const proof: SignatureProof = {
    type: 'signature',
    ...(issuer === undefined ? {} : { issuer }),
    issuer_pinned: issuerPinned,
    key: keyId(key),
    ...(at === undefined ? {} : { certificate_valid_at: new Date(at).toISOString() }),
  };
  return covering(proof, { signed: signedBy(sign1, sign1.payload!) });
}
