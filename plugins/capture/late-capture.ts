import { MOST_OFFSET_MS } from '../../src/platform/clock-offset.js';
import type { Fields } from '../memory/memory.js';
import { type CaptureMethod, hereMs, type Observation } from '../operation/capture-sequence.js';
import { type AnswerWindow, NO_HURRY } from './answer-window.js';

/** Whose clock gives the sequence of what a method captures. */
const SEQUENCED_BY: Readonly<Partial<Record<string, 'plugin' | 'conserver'>>> = {
  receiver: 'plugin',
  link: 'conserver',
  tracer: 'conserver',
};

/** A process that captures. */
export interface Capturing {
  /** Its name. */
  readonly by: string;
  /** How far the clock of the conserver's Redis, which all plugins share, is ahead of its own; undefined if not known. */
  readonly aheadMs: number | undefined;
}

/** A capture's place in time. */
interface Placed {
  readonly method: CaptureMethod;
  readonly observed: Observation;
}

/** The time of a capture by the clock of the conserver's Redis; undefined if not known. */
function sharedMs({ method, observed }: Placed, { aheadMs }: Capturing): number | undefined {
  const ms = Number.parseInt(observed.sequence, 10);
  if (SEQUENCED_BY[method] === 'conserver') return observed.timeUnknown ? undefined : ms;
  return observed.clockWrong || aheadMs === undefined ? undefined : ms + aheadMs;
}

/** The fields of a vCon by which a later capture is compared with this one. */
export function seenFields(placed: Placed, capturing: Capturing): Record<string, string> {
  const { method, observed } = placed;
  const [seen, shared] = [hereMs(observed), sharedMs(placed, capturing) ?? ''].map(String) as [string, string];
  return { sequence: observed.sequence, method, seen_ms: seen, seen_by: capturing.by, shared_ms: shared };
}

/**
 * Whether a later state of the vCon may have been captured before this one: this one waited on disk, in the stream, or
 * was left by a consumer that died. A caller who waits for the response has the newest state. What the plugin's clock
 * and the conserver's Redis gave a sequence is compared by the clock of this process if both were captured here, else by
 * that Redis's clock. If one of the times by it is not known, another process's capture within the tolerated difference of
 * clocks may be later.
 * @param last the fields of the last capture
 * @param capturing this process
 */
export function isLate(placed: Placed, last: Fields, window: AnswerWindow, capturing: Capturing): boolean {
  const { method, observed } = placed;
  const { sequence, method: lastMethod = '', seen_by: seenBy } = last;
  if (window !== NO_HURRY || sequence === undefined) return false;
  const [ours, theirs] = [SEQUENCED_BY[method], SEQUENCED_BY[lastMethod]];
  // Ids of a stream always rise; sequences of a process start anew with it.
  if (ours === theirs) return observed.sequence < sequence && !(observed.clockWrong && ours === 'plugin');
  if (ours === 'conserver' ? observed.timeUnknown : observed.clockWrong) return true;
  const seenMs = Number(last['seen_ms'] ?? Number.parseInt(sequence, 10));
  if (seenBy === capturing.by) return hereMs(observed) <= seenMs;
  const shared = sharedMs(placed, capturing);
  if (shared !== undefined && last['shared_ms']) return shared <= Number(last['shared_ms']);
  return hereMs(observed) <= seenMs + MOST_OFFSET_MS;
}
