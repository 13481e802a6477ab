import { equalBytes } from '../bytes.js';
import { keyThumbprint } from '../cose/cose-key.js';
import { Header } from '../cose/labels.js';
import { verifySign1 } from '../cose/verify-sign1.js';
import { VerificationError } from '../errors.js';
import { isCompleteSize } from '../mmr/leaf-count.js';
import { peaks as peakIndices } from '../mmr/peaks.js';
import { claimedJwk } from '../receipt/log-claims.js';
import { encodeSignedState, readSeal } from '../receipt/seal.js';
import type { VerifiedSeal } from './proofs.js';
import { checkLogName } from './trust.js';
import type { ReceiptTrust } from './verify-receipt.js';

const UNDERSTOOD = [Header.alg, Header.kid, Header.draftClaims, Header.claims, Header.type] as const;

/**
 * Checks a published seal against the log's own peaks at the sealed size, left to right. The signed form is built from
 * these peaks. A seal carries its key, but counts only if the same key is among the given ones. A seal that carries
 * peaks itself, as replication tools write it, must carry the same peaks.
 * @throws {VerificationError} `insufficient_data` if these are not the peaks of that size, `consistency_invalid` if the
 * log signed other peaks of that size, `seal_signature_invalid`, `log_key_not_trusted`, `log_mismatch` and those of any
 * signature
 */
export async function verifySeal(
  bytes: Uint8Array,
  peaks: readonly Uint8Array[],
  trust: ReceiptTrust,
): Promise<VerifiedSeal> {
  const seal = readSeal(bytes);
  const { size } = seal.state;
  if (!isCompleteSize(size) || peakIndices(size).length !== peaks.length)
    throw new VerificationError('insufficient_data', `a log of ${size} nodes does not have ${peaks.length} peaks`);
  const claimed = claimedJwk(seal);
  const thumbprint = claimed && keyThumbprint(claimed);
  const keys = trust.logKeys.filter((key) => thumbprint && equalBytes(keyThumbprint(key), thumbprint));
  if (keys.length === 0)
    throw new VerificationError('log_key_not_trusted', 'the seal is not signed by any of the given keys');
  const check = {
    what: 'the seal',
    keys,
    verifySignature: trust.verifySignature,
    understood: UNDERSTOOD,
    untrusted: 'log_key_not_trusted',
    invalid: 'seal_signature_invalid',
  } as const;
  const computed = encodeSignedState(seal.state, peaks);
  const carried = seal.carriesPeaks ? seal.sign1.payload! : computed;
  const key = await verifySign1(seal.sign1, carried, check, keys);
  if (!equalBytes(carried, computed))
    throw new VerificationError(
      'consistency_invalid',
      `the seal covers other peaks of ${size} nodes than the log files have`,
    );
  checkLogName(seal, trust.log);
  return { ...seal, key, signedState: carried };
}
