import {
  examineTransparentStatement,
  readTransparentStatement,
  requireVerified,
  VerificationError,
} from '../../src/core/index.js';
import type { ServiceKeys } from '../archivist-client/archivist-client.js';
import type { ReceiptJob } from './receipt-job.js';

/**
 * Verifies every part of a transparent statement (statement and event), and that it is about this event and this hash.
 * The document itself is not here: the statement must name its captured hash.
 * @throws {VerificationError}
 */
export async function verifyReceiptHome(bytes: Uint8Array, job: ReceiptJob, keys: ServiceKeys): Promise<void> {
  const { claims } = requireVerified(await examineTransparentStatement(bytes, keys));
  const [statement, event] = (['statement', 'event'] as const).map((kind) =>
    claims.find((claim) => claim.kind === kind),
  );
  if (!statement || !event) throw new VerificationError('receipt_missing', 'the statement comes without its event');
  const { subject, payload_hash } = statement.facts;
  if (subject !== job.subject || payload_hash !== job.payload)
    throw new VerificationError('event_mismatch', 'the statement is about another vCon, or another state of it');
  if (readTransparentStatement(bytes).event?.identity !== job.event)
    throw new VerificationError('event_mismatch', 'the receipt is for another event');
}
