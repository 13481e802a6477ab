import type { Fields, Memory } from '../memory/memory.js';
import type { VconFacts } from '../operation/vcon-facts.js';
import type { AnswerWindow } from './answer-window.js';
import type { Ended } from './ended.js';
import { firstOfHistory } from './first-of-history.js';
import { type Capturing, isLate } from './late-capture.js';

/** What is known of a vCon when an operation on it is captured. */
export interface KnownVcon {
  /** Its name in the memory: documents without a uuid are known by their subject. */
  readonly uuid: string;
  /** What is remembered of it in `vcons`. */
  readonly fields: Fields;
  /** The first vCon of its history; undefined without a uuid. */
  readonly history: string | undefined;
  /** A later state of it may have been captured before this one. */
  readonly late: boolean;
}

async function historyOf(
  memory: Memory,
  uuid: string,
  vcon: VconFacts,
  known: string | undefined,
): Promise<string | undefined> {
  if (!vcon.uuid) return undefined;
  const first = known ?? vcon.redacted ?? vcon.amended ?? uuid;
  return first === uuid ? uuid : firstOfHistory(memory, first);
}

/**
 * Reads what is remembered of a vCon, and compares this capture with the last one.
 * @throws what the memory throws
 */
export async function readKnownVcon(
  parts: { readonly memory: Memory; capturing(): Capturing },
  uuid: string,
  ended: Ended,
  window: AnswerWindow,
): Promise<KnownVcon> {
  const fields = await parts.memory.read('vcons', uuid);
  const history = await historyOf(parts.memory, uuid, ended.vcon, fields['history']);
  return { uuid, fields, history, late: isLate(ended, fields, window, parts.capturing()) };
}
