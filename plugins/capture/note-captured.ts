import type { Memory } from '../memory/memory.js';
import type { Ended } from './ended.js';
import type { KnownVcon } from './known-vcon.js';
import { notePassage } from './note-passage.js';
import { noteSuccession } from './note-succession.js';

/**
 * Remembers for a completeness tap that a vCon was captured, and which vCons it continues.
 * @param passages undefined without a tap
 * @throws what the memory throws
 */
export async function noteCaptured(
  passages: Memory | undefined,
  { vcon, observed }: Ended,
  { uuid, late }: KnownVcon,
): Promise<void> {
  // A document without a uuid never leaves a chain under one.
  if (!passages || !vcon.uuid || (late && !observed.clockWrong)) return;
  const predecessors = [vcon.redacted, vcon.amended].filter((each) => each !== undefined && each !== uuid);
  await noteSuccession(passages, predecessors, observed);
  await notePassage(passages, uuid, 'captured', observed);
}
