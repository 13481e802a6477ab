import type { Logger } from '../../src/platform/logger.js';
import { notePassage } from '../capture/note-passage.js';
import { noteSuccession } from '../capture/note-succession.js';
import type { Memory } from '../memory/memory.js';
import type { Observation } from '../operation/capture-sequence.js';

/**
 * Remembers that a vCon left a chain, and which vCons it continues: what left may be the successor of what was captured,
 * without having been captured itself.
 * @param uuid as the conserver spells it
 * @throws what the memory throws
 */
export async function noteDeparture(
  parts: {
    readonly memory: Memory;
    readonly logger: Logger;
    /** The vCons that one redacts or amends. */
    predecessorsOf(uuid: string): Promise<readonly string[]>;
  },
  uuid: string,
  observed: Observation,
): Promise<void> {
  const { memory, logger } = parts;
  const predecessors = await parts.predecessorsOf(uuid).catch((error: unknown) => {
    logger.warn({ err: error, uuid }, 'the predecessors of a vCon that left cannot be read');
    return [];
  });
  await noteSuccession(memory, predecessors, observed);
  await notePassage(memory, uuid.toLowerCase(), 'left', observed);
}
