import type { QueueBackend } from '../../src/platform/queue/queue-backend.js';
import { enqueueOperation } from '../capture/enqueue-operation.js';
import type { Memory } from '../memory/memory.js';
import type { Observation } from '../operation/capture-sequence.js';
import { operationEvent } from '../operation/operation-event.js';
import type { Ending } from './keyspace-endings.js';

/**
 * Keeps the end of a vCon for delivery, with the last hash that is known: the document itself is gone. False when none is
 * known. The same end that two plugins see is one event; a vCon that was captured again since may end again.
 * @throws when the queue or the memory does not answer
 */
export async function recordEnding(
  parts: { readonly backend: QueueBackend; readonly memory: Memory },
  ending: Ending,
  uuid: string,
  observed: Observation,
): Promise<boolean> {
  const { payload, sequence = '', history, tenancy } = await parts.memory.read('vcons', uuid);
  if (!payload) return false;
  const operation = { name: ending, nonce: sequence, ...(tenancy ? { tenancy } : {}) };
  const event = operationEvent(operation, { payload, uuid }, { method: 'keyspace', observed, history });
  await enqueueOperation(parts.backend, operation, event);
  return true;
}
