import type { Logger } from '../../src/platform/logger.js';
import type { QueueBackend } from '../../src/platform/queue/queue-backend.js';
import { TimeLimitError } from '../../src/platform/time-limit.js';
import { type AnswerWindow, NO_HURRY, requireOpen } from './answer-window.js';
import type { CapturedOperations } from './captured-operations.js';
import { holdOperations } from './held-operation.js';
import { withdrawOperations } from './withdraw-operations.js';

/**
 * Holds the operations of a capture in the queue until they are durable, then releases the first. If it rejects within a
 * window, it has withdrawn them.
 * @throws {TimeLimitError} when the window closes first
 * @throws when the queue cannot guarantee that they are stored
 */
export async function keepOperations(
  parts: { readonly backend: QueueBackend; readonly withdrawn: Set<string>; readonly logger: Logger },
  operations: CapturedOperations,
  window: AnswerWindow,
): Promise<void> {
  const { backend, withdrawn } = parts;
  requireOpen(window);
  // What an earlier capture of the same operations could not remove in time belongs to this one.
  for (const { job } of operations) withdrawn.delete(job);
  try {
    await holdOperations(backend, operations);
    await backend.confirmDurable();
    requireOpen(window);
    if (!(await operations[0].release())) throw new Error('another plugin took it out of the queue');
    if (window.isRefused()) throw new TimeLimitError('the queue did not answer in time');
  } catch (error) {
    if (window !== NO_HURRY) await withdrawOperations(parts, operations);
    throw error;
  }
}
