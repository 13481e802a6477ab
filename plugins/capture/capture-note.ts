import type { Memory } from '../memory/memory.js';
import type { Ended } from './ended.js';
import type { KnownVcon } from './known-vcon.js';
import { notePassage } from './note-passage.js';
import { noteSuccession } from './note-succession.js';

/**
 * Returns what remembers for a completeness tap that a vCon was captured, and which vCons it continues. It may wait for long
 * with many others, so it keeps only what it needs of the capture. It rejects with what the memory throws.
 * @param passages undefined without a tap
 */
export function captureNote(
  passages: Memory | undefined,
  { vcon, key, observed }: Ended,
  { late }: KnownVcon,
): () => Promise<void> {
  const uuid = key ?? vcon.uuid;
  // The receiver does not see under which uuid a document that names none leaves.
  if (!passages || !uuid || (late && !observed.clockWrong)) return async () => undefined;
  const predecessors = [vcon.redacted, vcon.amended].filter((each) => each !== undefined && each !== uuid);
  return async () => {
    await noteSuccession(passages, predecessors, observed);
    await notePassage(passages, uuid, 'captured', observed);
  };
}
