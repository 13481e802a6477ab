import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from '../../src/platform/logger.js';
import type { Fields, Memory } from '../memory/memory.js';
import type { Ended } from './ended.js';
import type { HeldOperation } from './held-operation.js';
import type { KnownVcon } from './known-vcon.js';
import type { Capturing } from './late-capture.js';
import { noteCaptured } from './note-captured.js';
import { rememberCapture } from './remember-capture.js';

const ATTEMPTS = 120;
const PAUSE_MS = 1_000;

interface FollowingParts {
  readonly memory: Memory;
  /** Where a completeness tap needs a record of captures; undefined without one. */
  readonly passages: Memory | undefined;
  readonly logger: Logger;
  capturing(): Capturing;
  /** Another method captured the same operation on the same bytes before. */
  doubled(operation: string): void;
}

/** Retries for two minutes, then gives up. */
async function retry(work: () => Promise<void>, logger: Logger): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      logger.warn({ err: error, attempt }, 'cannot remember the captured operation yet');
      if (attempt >= ATTEMPTS) return;
      // The process may end meanwhile.
      await wait(PAUSE_MS, undefined, { ref: false });
    }
  }
}

/** The work after a capture is final. It may be slow. It never rejects, because its failure no longer refuses the capture. */
interface Following {
  /** The changes of consent are released, and the capture is remembered. */
  readonly remembered: Promise<void>;
  /** The completeness tap knows of it too. */
  readonly noted: Promise<void>;
}

/**
 * Releases the changes of consent and remembers what was captured, then notes it for a completeness tap.
 * @param final.changes the changes of consent that the capture holds in the queue
 * @param final.fields what is to be remembered of the vCon besides the capture
 */
export function followCapture(
  parts: FollowingParts,
  ended: Ended,
  known: KnownVcon,
  final: { readonly changes: readonly HeldOperation[]; readonly fields: Fields },
): Following {
  const remembered = retry(async () => {
    for (const held of final.changes) await held.release();
    await rememberCapture(parts, ended, known, final.fields);
  }, parts.logger);
  return {
    remembered,
    noted: remembered.then(() => retry(() => noteCaptured(parts.passages, ended, known), parts.logger)),
  };
}
