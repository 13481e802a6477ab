import type { QueueBackend } from '../../src/platform/queue/queue-backend.js';
import type { Operation } from '../operation/operation.js';
import { operationEvent } from '../operation/operation-event.js';
import type { Ended } from './ended.js';
import { type HeldOperation, heldOperation } from './held-operation.js';

/** The operation that was captured, then the changes of consent that its vCon shows. */
export type CapturedOperations = readonly [HeldOperation, ...HeldOperation[]];

/**
 * The operations of a capture, before they are in the queue.
 * @param captured.identity what makes a second capture the same
 * @param captured.changes the changes of consent, as operations of their own
 * @param captured.history the first vCon of the history; undefined for a document without a uuid
 */
export function capturedOperations(
  backend: QueueBackend,
  ended: Ended,
  captured: {
    readonly identity: Operation;
    readonly changes: readonly Ended[];
    readonly history: string | undefined;
  },
): CapturedOperations {
  const { identity, changes, history } = captured;
  const prepare = ({ operation, vcon, method, observed }: Ended, same: Operation): HeldOperation =>
    heldOperation(backend, same, operationEvent(operation, vcon, { method, observed, history }));
  /** Wherever a change of consent is seen, it is the same change. */
  const prepareConsent = (change: Ended): HeldOperation => {
    const { chain: _chain, link: _link, ...same } = change.operation;
    return prepare(change, same);
  };
  return [prepare(ended, identity), ...changes.map(prepareConsent)];
}
