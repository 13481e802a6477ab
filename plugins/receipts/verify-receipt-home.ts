import {
  examineTransparentStatement,
  readStatement,
  readTransparentStatement,
  toHex,
  VerificationError,
} from '../../src/core/index.js';
import type { ServiceKeys } from '../archivist-client/archivist-client.js';
import type { ReceiptJob } from './receipt-job.js';

/**
 * Checks every step of a transparent statement, and that it is about this event and this hash. The document is not here:
 * its hash was captured, and is what the statement must name.
 * @throws {VerificationError}
 */
export async function verifyReceiptHome(bytes: Uint8Array, job: ReceiptJob, keys: ServiceKeys): Promise<void> {
  const { steps } = await examineTransparentStatement(bytes, keys);
  for (const { step, outcome, code, detail } of steps)
    if (outcome !== 'verified' && step !== 'payload_hash')
      throw new VerificationError(code ?? 'receipt_missing', `${step}: ${detail}`);
  const { entry, event } = readTransparentStatement(bytes);
  const { subject, payloadHash } = readStatement(entry);
  if (subject !== job.subject || !payloadHash || toHex(payloadHash) !== job.payload)
    throw new VerificationError('event_mismatch', 'the statement is about another vCon, or another state of it');
  if (event?.identity !== job.event) throw new VerificationError('event_mismatch', 'the receipt is for another event');
}
