import { createHash } from 'node:crypto';
import type { Operation } from './operation.js';
import type { OperationEvent } from './operation-event.js';

/** Name of the queue between capture and delivery. */
export const OPERATION_QUEUE = 'conserver-operations';

/** What is kept of an operation until it is delivered. */
export type OperationJob = OperationEvent;

/**
 * The id of an operation's job, and its idempotency key at the service: hex SHA-256 over subject, chain, link name,
 * operation, payload and nonce, so that capturing it twice is harmless.
 */
export function operationJobId(operation: Operation, event: OperationEvent): string {
  const { name, chain = '', link = '', nonce = '' } = operation;
  const named = JSON.stringify([event.subject, chain, link, name, event.payload, nonce]);
  return createHash('sha256').update(named).digest('hex');
}
