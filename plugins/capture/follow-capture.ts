import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from '../../src/platform/logger.js';
import type { Fields, Memory } from '../memory/memory.js';
import { NO_HURRY } from './answer-window.js';
import { captureNote } from './capture-note.js';
import type { Ended } from './ended.js';
import type { HeldOperation } from './held-operation.js';
import { type KnownVcon, readKnownVcon } from './known-vcon.js';
import type { Capturing } from './late-capture.js';
import type { PatientWork } from './patient-work.js';
import { rememberCapture } from './remember-capture.js';

const PAUSE_MS = 1_000;
/** Of so many attempts that failed, one is in the log. */
const WARN_EACH = 60;

interface FollowingParts {
  readonly memory: Memory;
  /** Where a completeness tap needs a record of captures; undefined without one. */
  readonly passages: Memory | undefined;
  /** Notes for the tap, by the vCon. */
  readonly notes: PatientWork;
  /** What is not remembered yet. */
  readonly unremembered: Set<Promise<void>>;
  /** The plugin stops: nothing is tried again. */
  readonly stopping: AbortSignal;
  readonly logger: Logger;
  capturing(): Capturing;
  /** Another method captured the same operation on the same bytes before. */
  doubled(operation: string): void;
}

/** Retries until it succeeds or the plugin stops. Never rejects. */
async function retry(
  work: () => Promise<void>,
  uuid: string,
  { stopping, logger }: Pick<FollowingParts, 'stopping' | 'logger'>,
): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      const left = { err: error, uuid };
      if (stopping.aborted) return logger.error(left, 'the plugin stops before it has remembered a captured operation');
      if (attempt % WARN_EACH === 0) logger.warn(left, 'a captured operation is not remembered yet: it is retried');
      // The process may end meanwhile.
      await wait(PAUSE_MS, undefined, { ref: false, signal: stopping }).catch(() => undefined);
    }
  }
}

/** The work after a capture is final. It may be slow. */
interface Following {
  /**
   * The changes of consent are released, and the capture is remembered. Rejects only where the caller repeats the capture:
   * for others, a failure no longer refuses it.
   */
  readonly remembered: Promise<void>;
  /** The completeness tap was told too, at least once. Rejects as `remembered` does. */
  readonly noted: Promise<void>;
}

/**
 * Releases the changes of consent and remembers what was captured, then notes it for a completeness tap.
 * @param final.changes the changes of consent that the capture holds in the queue
 * @param final.fields what is to be remembered of the vCon besides the capture
 * @param final.isRepeated the caller repeats a capture that is not remembered
 */
export function followCapture(
  parts: FollowingParts,
  ended: Ended,
  known: KnownVcon,
  final: { readonly changes: readonly HeldOperation[]; readonly fields: Fields; readonly isRepeated: boolean },
): Following {
  const { passages, notes, unremembered } = parts;
  const { uuid } = known;
  let attempts = 0;
  const remember = async (): Promise<void> => {
    for (const held of final.changes) await held.release();
    attempts += 1;
    // Another plugin may have captured a later state since the first attempt.
    const now = attempts === 1 ? known : await readKnownVcon(parts, uuid, ended, NO_HURRY);
    await rememberCapture(parts, ended, now, now.late && !known.late ? {} : final.fields);
  };
  const remembered = final.isRepeated ? remember() : retry(remember, uuid, parts);
  unremembered.add(remembered);
  const done = () => void unremembered.delete(remembered);
  remembered.then(done, done);
  return {
    remembered,
    noted: remembered.then(() => notes.keepTrying(uuid, captureNote(passages, ended, known))),
  };
}
