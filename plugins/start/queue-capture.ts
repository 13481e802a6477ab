import type { Logger } from '../../src/platform/logger.js';
import type { QueueBackend } from '../../src/platform/queue/queue-backend.js';
import type { OperationMetrics } from '../capture/capture-metrics.js';
import { type Capture, createCapture } from '../capture/capture-operation.js';
import type { CaptureRoom } from '../capture/capture-room.js';
import type { Memory } from '../memory/memory.js';

/** The capture that every capture method of a plugin uses. */
interface QueueCapture extends Capture {
  /** Ids of jobs whose capture was refused: they must not be delivered. */
  readonly withdrawn: ReadonlySet<string>;
  /** Takes how far the clock of the conserver's Redis is ahead of this process's; undefined when it does not say. */
  aheadMs(ms: number | undefined): void;
}

/**
 * Captures into the queue.
 * @param parts.room refuses captures while the queue has no room
 */
export function queueCapture(parts: {
  readonly backend: QueueBackend;
  readonly memory: Memory;
  /** What was captured and what left; undefined without a tap. */
  readonly passages: Memory | undefined;
  readonly room: Pick<CaptureRoom, 'requireInQueue'>;
  readonly metrics: Pick<OperationMetrics, 'captured' | 'doubled'>;
  readonly logger: Logger;
}): QueueCapture {
  const { backend, memory, passages, room, metrics, logger } = parts;
  const withdrawn = new Set<string>();
  let conserverAheadMs: number | undefined;
  const capturing = createCapture({
    backend,
    memory,
    withdrawn,
    logger,
    counted: metrics.captured,
    doubled: metrics.doubled,
    passages,
    conserverAheadMs: () => conserverAheadMs,
  });
  return {
    withdrawn,
    async capture(...captured) {
      room.requireInQueue();
      return capturing.capture(...captured);
    },
    afterCaptures: capturing.afterCaptures,
    close: capturing.close,
    aheadMs(ms) {
      conserverAheadMs = ms;
    },
  };
}
