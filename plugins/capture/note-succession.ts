import type { Memory } from '../memory/memory.js';
import type { Observation } from '../operation/capture-sequence.js';
import { notePassage } from './note-passage.js';

/** Remembers that vCons continue under another uuid: their redaction or amendment leaves the chain in their place. */
export async function noteSuccession(
  memory: Memory,
  predecessors: readonly (string | undefined)[],
  observed: Observation,
): Promise<void> {
  for (const uuid of predecessors) if (uuid) await notePassage(memory, uuid, 'continued', observed);
}
