import { DataStructure, Header } from '../cose/labels.js';
import { VerificationError } from '../errors.js';
import { readLogClaims } from '../receipt/log-claims.js';
import { readReceiptEnvelope } from '../receipt/receipt-proof.js';
import type { Seal } from '../receipt/seal.js';
import { type ReceiptTrust, verifyReceiptSignature } from './verify-receipt.js';

/**
 * Checks the receipts that a seal carries beside its signature: one signed receipt for each of its peaks, left to
 * right. The seal's signature does not cover them. A seal without receipts is accepted, but clients cannot make
 * receipts from it.
 * @throws {VerificationError} `malformed` if there is not one for each peak, `unsupported` for those of older sealers
 * and for anything else beside the signature, and those of any receipt
 */
export async function verifyPeakReceipts(
  { sign1, peakReceipts }: Seal,
  peaks: readonly Uint8Array[],
  trust: ReceiptTrust,
): Promise<void> {
  const other = [...sign1.unprotectedHeader.keys()].find((label) => label !== Header.peakReceipts);
  if (other !== undefined) throw new VerificationError('unsupported', `no signature covers the seal's header ${other}`);
  if (peakReceipts.length === 0) return;
  if (peakReceipts.length !== peaks.length)
    throw new VerificationError('malformed', `the seal has ${peakReceipts.length} receipts for ${peaks.length} peaks`);
  for (const [place, receipt] of peakReceipts.entries()) {
    const envelope = readReceiptEnvelope(receipt, DataStructure.mmrSha256);
    if (envelope.unprotectedHeader.size > 0)
      throw new VerificationError('malformed', 'a peak receipt of the seal has something that no signature covers');
    const named = { sign1: envelope, ...readLogClaims(envelope.protectedHeader) };
    await verifyReceiptSignature(named, peaks[place]!, trust, 'a peak receipt of the seal');
  }
}
