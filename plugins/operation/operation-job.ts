import { createHash } from 'node:crypto';
import type { Operation } from './operation.js';
import type { OperationEvent } from './operation-event.js';

/** Name of the queue between capture and delivery. */
export const OPERATION_QUEUE = 'conserver-operations';

/** The backoff strategy that the plugin's jobs use and each of its workers provides. */
export const RETRY_STRATEGY = 'delivery';

/** What is stored of an operation until it is delivered. */
export type OperationJob = OperationEvent;

/**
 * The id of an operation's job, which is also its idempotency key at the service: hex SHA-256 over subject, chain, link
 * name, operation, payload, nonce, and the tenancy if it is not the plugin's own. Capturing an operation twice is
 * therefore harmless.
 */
export function operationJobId(operation: Operation, event: Pick<OperationEvent, 'subject' | 'payload'>): string {
  const { name, reported = name, chain = '', link = '', nonce = '', tenancy } = operation;
  const named = [event.subject, chain, link, reported, event.payload, nonce, ...(tenancy ? [tenancy] : [])];
  return createHash('sha256').update(JSON.stringify(named)).digest('hex');
}
