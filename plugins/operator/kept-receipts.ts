import { failureReason } from '../../src/platform/explain-failure.js';
import type { Logger } from '../../src/platform/logger.js';
import { type MemoryPlace, openMemory } from '../memory/open-memory.js';
import { type KeptReceipt, receiptName } from '../receipts/receipt-job.js';
import { OperatorError } from './operator-error.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const DIGEST = /^[0-9a-f]{64}$/;

/**
 * The stored receipts of one state of a vCon, by the id of the operation's job.
 * @throws {OperatorError} if no receipt is kept, if the receipts cannot be read, or if uuid or hash is invalid
 */
export async function keptReceipts(
  place: MemoryPlace,
  logger: Logger,
  uuid: string,
  hash: string,
): Promise<Readonly<Record<string, KeptReceipt>>> {
  if (!UUID.test(uuid.toLowerCase())) throw new OperatorError('<uuid> must be the UUID of the vCon');
  if (!DIGEST.test(hash.toLowerCase()))
    throw new OperatorError('<hash> must be the SHA-256 of the vCon’s bytes: 64 hex digits');
  const name = receiptName({ subject: `vcon://${uuid.toLowerCase()}`, payload: hash.toLowerCase() });
  const memory = openMemory(place, logger);
  const read = memory.read('receipts', name).catch((error: Error) => {
    const why = error.name === 'MaxRetriesPerRequestError' ? 'Redis does not answer' : failureReason(error);
    throw new OperatorError(`the receipts cannot be read: ${why}; check REDIS_URL or DATA_DIR`, { cause: error });
  });
  const fields = Object.entries(await read.finally(() => memory.close()));
  if (fields.length === 0)
    throw new OperatorError(
      'no receipt of this state of the vCon is stored: it is not delivered yet, or was more than 90 days ago',
    );
  return Object.fromEntries(fields.map(([job, text]) => [job, JSON.parse(text) as KeptReceipt]));
}
