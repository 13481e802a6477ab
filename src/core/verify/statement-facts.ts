import { toHex } from '../bytes.js';
import type { Mutable } from '../mutable.js';
import { sha256 } from '../sha256.js';
import { isRecordStatement, statedRecord } from '../statement/event-statement.js';
import { isIssuerOfService, tenancyOfIssuer } from '../statement/issuer-did.js';
import type { ReadStatement } from '../statement/signed-statement.js';
import { hashName, JCS_DIGEST_ATTRIBUTE } from '../statement/vcon-template.js';
import type { Facts, InclusionProof, SignatureProof } from './claim.js';
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

type Pinned = Partial<Pick<VerifiedStatement, 'issuerPinned'>>;

/**
 * The tenancy that an issuer is: anybody can end a name with the uuid of another's tenancy. So the uuid counts only if the
 * caller named this issuer, or a log of the issuer's own service is proven to hold the statement.
 */
function tenancyOf(
  { issuer, issuerPinned }: ReadStatement & Pinned,
  logged: readonly InclusionProof[],
): string | undefined {
  const isOwn = issuerPinned || logged.some(({ log }) => isIssuerOfService(issuer, log.issuer));
  return isOwn ? tenancyOfIssuer(issuer) : undefined;
}

/**
 * Returns the facts that a signed statement states, all from its protected header and payload. The caller must have
 * checked the signature.
 * @param logged proofs that statement logs hold it
 */
export function statementFacts(statement: ReadStatement & Pinned, logged: readonly InclusionProof[] = []): Facts {
  const { issuer, subject, payloadHash, payloadHashAlg, preimageContentType, payloadLocation } = statement;
  const {
    vcon_operation: operation,
    timestamp_declared: declared,
    [JCS_DIGEST_ATTRIBUTE]: jcs,
    ...members
  } = metaTexts(statement);
  const [tenancy, vcon, record] = [tenancyOf(statement, logged), vconOf(subject), statedRecord(statement)];
  const isRecord = isRecordStatement(statement);
  const { payload } = statement.sign1;
  const facts: Mutable<Facts> = {};
  if (issuer !== undefined) facts.issuer = issuer;
  if (tenancy !== undefined) facts.tenancy = tenancy;
  if (operation !== undefined) facts.operation = operation;
  if (subject !== undefined) facts.subject = subject;
  if (vcon !== undefined) facts.vcon = vcon;
  if (payloadHash !== undefined && !isRecord) facts.payload_hash = toHex(payloadHash);
  if (payloadHashAlg !== undefined && !isRecord) facts.payload_hash_alg = hashName(payloadHashAlg);
  if (payloadHashAlg === undefined && payload && !isRecord) facts.payload_sha256 = toHex(sha256(payload));
  if (record !== undefined) facts.record_hash = toHex(record);
  if (jcs !== undefined) facts.payload_jcs_sha256 = jcs;
  if (preimageContentType !== undefined) facts.payload_content_type = String(preimageContentType);
  if (payloadLocation !== undefined) facts.payload_location = payloadLocation;
  if (declared !== undefined) facts.declared = declared;
  if (Object.keys(members).length > 0) facts.members = members;
  return facts;
}

/** Returns the proof that follows from a checked signature. */
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
