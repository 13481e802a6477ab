import type { Memory } from '../memory/memory.js';

/** Remembers that vCons continue under another uuid: their redaction or amendment leaves the chain in their place. */
export async function noteSuccession(
  memory: Memory,
  predecessors: readonly (string | undefined)[],
  atMs: number,
): Promise<void> {
  for (const uuid of predecessors) if (uuid) await memory.write('tap', uuid, { continued: String(atMs) });
}
