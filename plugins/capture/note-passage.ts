import type { Memory } from '../memory/memory.js';
import type { Observation } from '../operation/capture-sequence.js';

/** The field of a vCon in `tap` that says that a wrong clock gave one of its times. */
export const CLOCK_WRONG = 'clock_wrong';

/** Remembers that a vCon left a chain, was captured, or continues under another uuid, and whether the time of it is right. */
export async function notePassage(
  memory: Memory,
  uuid: string,
  passage: 'left' | 'captured' | 'continued',
  { atMs, clockWrong }: Observation,
): Promise<void> {
  await memory.write('tap', uuid, { [passage]: String(atMs), ...(clockWrong && { [CLOCK_WRONG]: 'true' }) });
}
